package runcible_test

// What each kind of step of the conformance cases does.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"runcible"
)

func load(r *runner, s step) error {
	var options runcible.BackendOptions
	for name, value := range s.options("backend_options") {
		switch name {
		case "memory_limit":
			options.MemoryLimit = uint64(value.(float64))
		case "max_requests":
			options.MaxRequests = int32(value.(float64))
		default:
			return fmt.Errorf("the option %s is not known", name)
		}
	}
	backend, err := runcible.OpenBackend(s.text("backend"), options)
	if err != nil {
		return err
	}
	load, path := runcible.LoadModel, s.text("path")
	if hub := s.text("hub"); hub != "" {
		load, path = runcible.LoadModelFromHub, hub
	} else if path == "" {
		path = "builtin:fable"
	}
	model, err := load(context.Background(), path, backend, runcible.ModelOptions{})
	if err == nil {
		r.set(s.text("as"), model)
	}
	return err
}

func report(r *runner, s step) error {
	report, err := r.model(s).Report()
	if err != nil {
		return err
	}
	found := map[string]any{
		"architecture": report.Architecture,
		"device":       report.Device,
		"vocabulary":   float64(report.Vocabulary),
	}
	for name, expected := range s.options("expect") {
		if found[name] != expected {
			return fmt.Errorf("%s is %v", name, found[name])
		}
	}
	return nil
}

func same(found, expected any) error {
	if !reflect.DeepEqual(found, expected) {
		return fmt.Errorf("found %v", found)
	}
	return nil
}

func tokenize(r *runner, s step) error {
	tokens, err := r.model(s).Tokenize(s.text("text"), 0)
	if err != nil {
		return err
	}
	return same(tokens, tokensOf(s["expect"]))
}

func detokenize(r *runner, s step) error {
	text, err := r.model(s).Detokenize(tokensOf(s["tokens"]), false)
	if err != nil {
		return err
	}
	return same(text, s["expect"])
}

func newSession(r *runner, s step) error {
	var options runcible.SessionOptions
	for name, value := range s.options("options") {
		switch {
		case name == "context_length":
			options.ContextLength = int64(value.(float64))
		case name == "when_full" && value == "shift":
			options.WhenFull = runcible.FullShifts
		default:
			return fmt.Errorf("the option %s is not known", name)
		}
	}
	session, err := r.model(s).NewSession(options)
	if err == nil {
		r.set(s.text("as"), session)
	}
	return err
}

// generateOptions are those of a step; the context is the caller's to cancel.
func generateOptions(r *runner, s step) (context.Context, context.CancelFunc, []runcible.GenerateOption, error) {
	ctx, cancel := context.WithCancel(context.Background())
	var options []runcible.GenerateOption
	for name, value := range s.options("options") {
		switch name {
		case "temperature":
			options = append(options, runcible.Temperature(float32(value.(float64))))
		case "top_k":
			options = append(options, runcible.TopK(int32(value.(float64))))
		case "max_tokens":
			options = append(options, runcible.MaxTokens(int64(value.(float64))))
		case "ignore_eos":
			options = append(options, runcible.IgnoreEOS())
		case "deadline":
			seconds := time.Duration(value.(float64) * float64(time.Second))
			ctx, cancel = context.WithTimeout(ctx, seconds)
		case "grammar":
			grammar := r.get(value.(string)).(*runcible.Grammar)
			options = append(options, runcible.WithGrammar(grammar))
		case "tool_choice":
			options = append(options, runcible.ToolChoice(value))
		case "response_format":
			options = append(options, runcible.ResponseFormat(value))
		default:
			return ctx, cancel, nil, fmt.Errorf("the option %s is not known", name)
		}
	}
	return ctx, cancel, options, nil
}

// begin starts a generation; the context is the caller's to cancel.
func begin(r *runner, s step) (*runcible.Generation, context.CancelFunc, error) {
	ctx, cancel, options, err := generateOptions(r, s)
	if err != nil {
		return nil, cancel, err
	}
	prompt, ok := s["prompt"].(string)
	if !ok && s["prompt"] != nil {
		options = append(options, runcible.PromptTokens(tokensOf(s["prompt"])))
	}
	generation, err := r.session(s).Generate(ctx, prompt, options...)
	return generation, cancel, err
}

func generate(r *runner, s step) error {
	generation, cancel, err := begin(r, s)
	defer cancel()
	if err != nil {
		return err
	}
	text, err := generation.Text()
	return checkEnd(s, generation, text, err)
}

func stream(r *runner, s step) error {
	generation, cancel, err := begin(r, s)
	defer cancel()
	if err != nil {
		return err
	}
	text := ""
	pieces := 0
	for piece := range generation.Pieces() {
		text += piece.Text
		pieces++
		if float64(pieces) == s["cancel_after"] {
			cancel()
		}
	}
	if least, ok := s["pieces"]; ok && float64(pieces) < least.(float64) {
		return fmt.Errorf("only %d pieces", pieces)
	}
	return checkEnd(s, generation, text, generation.Err())
}

func checkEnd(s step, generation *runcible.Generation, text string, err error) error {
	if err != nil {
		return err
	}
	if reason := generation.Report().Reason.String(); s["reason"] != nil && reason != s["reason"] {
		return fmt.Errorf("ended by %s", reason)
	}
	if expected, ok := s["expect"]; ok && text != expected {
		return fmt.Errorf("generated %q", text)
	}
	if whole := s.text("expect_start_of"); whole != "" && !strings.HasPrefix(whole, text) {
		return fmt.Errorf("generated %q", text)
	}
	if text == "" {
		return errors.New("generated nothing")
	}
	return nil
}

func together(r *runner, s step) error {
	steps := s["steps"].([]any)
	results := make(chan error)
	for _, each := range steps {
		each := each.(map[string]any)
		go func() { results <- r.run(each) }()
	}
	var failed error
	for range steps {
		if err := <-results; err != nil {
			failed = err
		}
	}
	return failed
}

func tokens(r *runner, s step) error {
	tokens, err := r.session(s).Tokens()
	if err != nil {
		return err
	}
	// The end token ends a text and is no part of the session.
	expected := tokensOf(s["expect"])
	if len(tokens) == len(expected)-1 {
		expected = expected[:len(tokens)]
	}
	return same(tokens, expected)
}

func appendTo(r *runner, s step) error {
	if tokens, ok := s["tokens"]; ok {
		return r.session(s).Append(tokensOf(tokens))
	}
	return r.session(s).AppendText(s.text("text"), runcible.AddSpecial)
}

func checkStatuses(r *runner, s step) error {
	expected := s.options("expect")
	for name, number := range expected {
		status, ok := statuses[name]
		if !ok || float64(status) != number {
			return fmt.Errorf("%s is %d", name, status)
		}
		if text := status.Error(); text == "unknown status" || namesOfC.MatchString(text) {
			return fmt.Errorf("%s is called %s", name, text)
		}
		err := fmt.Errorf("wrapped: %w", &runcible.Error{Status: status, Message: "a message"})
		if !errors.Is(err, status) || !strings.HasSuffix(err.Error(), "a message") {
			return fmt.Errorf("%w is not %s", err, name)
		}
	}
	return same(len(statuses), len(expected))
}

func writeFile(r *runner, s step) error {
	path := filepath.Join(r.folder, s.text("as"))
	r.set(s.text("as"), path)
	return os.WriteFile(path, []byte(s.text("text")), 0o600)
}

func start(r *runner, s step) error {
	generation, _, err := begin(r, s)
	if err == nil {
		r.set(s.text("as"), generation)
	}
	return err
}

func finish(r *runner, s step) error {
	generation := r.get(s.text("generation")).(*runcible.Generation)
	if err := generation.Close(); err != nil {
		return err
	}
	return same(generation.Report().Reason, runcible.EndCancelled)
}

func closeObject(r *runner, s step) error {
	return r.get(s.text("object")).(*runcible.Session).Close()
}

func save(r *runner, s step) error {
	path := filepath.Join(r.folder, "session.gguf")
	r.set(s.text("as"), path)
	return r.session(s).Save(path)
}

func restore(r *runner, s step) error {
	saved := r.get(s.text("saved")).(string)
	session, err := r.model(s).RestoreSession(saved, runcible.SessionOptions{})
	if err == nil {
		r.set(s.text("as"), session)
	}
	return err
}

func fork(r *runner, s step) error {
	session, err := r.session(s).Fork()
	if err == nil {
		r.set(s.text("as"), session)
	}
	return err
}

func decode(r *runner, s step) error {
	if s["all_logits"] == true {
		return r.session(s).DecodeAll()
	}
	return r.session(s).Decode()
}

func logits(r *runner, s step) error {
	logits, err := r.session(s).Logits()
	if err != nil {
		return err
	}
	if float64(len(logits)) != s.number("rows") || float64(len(logits[0])) != s.number("vocabulary") {
		return fmt.Errorf("%d rows of %d", len(logits), len(logits[0]))
	}
	row := logits[int(s.number("row"))]
	sum, largest := 0.0, 0
	for i, logit := range row {
		sum += float64(logit)
		if logit > row[largest] {
			largest = i
		}
	}
	wanted := s.number("sum")
	if math.Abs(sum-wanted) > s.number("tolerance")*math.Abs(wanted) ||
		float64(largest) != s.number("largest") {
		return fmt.Errorf("the sum is %v, the largest %d", sum, largest)
	}
	return nil
}

func newTensor(r *runner, s step) error {
	shape, elements := sizes(s["shape"])
	numbers := make([]float32, elements)
	for i := range numbers {
		if values, ok := s["values"].([]any); ok {
			numbers[i] = float32(values[i].(float64))
		} else {
			numbers[i] = float32(s.number("fill"))
		}
	}
	backend, err := runcible.OpenBackend(s.text("backend"), runcible.BackendOptions{})
	if err != nil {
		return err
	}
	tensor, err := runcible.NewTensor(backend, numbers, shape...)
	if err == nil {
		r.set(s.text("as"), tensor)
	}
	return err
}

func matmul(r *runner, s step) error {
	product, err := r.tensor(s.text("a")).Matmul(r.tensor(s.text("b")))
	if err == nil {
		r.set(s.text("as"), product)
	}
	return err
}

func quantize(r *runner, s step) error {
	dtype, err := runcible.ParseDType(s.text("dtype"))
	if err != nil {
		return fmt.Errorf("%s: %v", s.text("dtype"), err)
	}
	_, err = r.tensor(s.text("tensor")).Quantize(dtype)
	return err
}

func read(r *runner, s step) error {
	tensor := r.tensor(s.text("tensor"))
	shape, err := tensor.Shape()
	if err != nil {
		return err
	}
	numbers, err := runcible.Numbers[float32](tensor)
	if err != nil {
		return err
	}
	return same([]any{fmt.Sprint(shape), fmt.Sprint(numbers)},
		[]any{fmt.Sprint(s["expect_shape"]), fmt.Sprint(s["expect"])})
}

// sizes gives a shape, and its number of elements.
func sizes(given any) (shape []int64, elements int) {
	elements = 1
	for _, size := range given.([]any) {
		shape = append(shape, int64(size.(float64)))
		elements *= int(size.(float64))
	}
	return shape, elements
}

func texts(given any) (made []string) {
	for _, each := range given.([]any) {
		made = append(made, each.(string))
	}
	return made
}

func near(row []float32, expected []any) error {
	for i, number := range expected {
		if difference := float64(row[i]) - number.(float64); difference > 2e-3 || difference < -2e-3 {
			return fmt.Errorf("%v instead of %v", row, expected)
		}
	}
	return nil
}

func embed(r *runner, s step) error {
	rows, err := r.model(s).Embed(context.Background(), texts(s["texts"]), runcible.EmbedOptions{})
	if err != nil {
		return err
	}
	expected := s["expect"].([]any)
	if len(rows) != len(expected) {
		return fmt.Errorf("%d rows", len(rows))
	}
	for i, row := range rows {
		if err := near(row, expected[i].([]any)); err != nil {
			return err
		}
	}
	return nil
}

func rerank(r *runner, s step) error {
	scores, err := r.model(s).Rerank(context.Background(), s.text("query"), texts(s["documents"]), runcible.RerankOptions{})
	if err != nil {
		return err
	}
	expected := s["expect"].([]any)
	if len(scores) != len(expected) {
		return fmt.Errorf("%d scores", len(scores))
	}
	return near(scores, expected)
}
