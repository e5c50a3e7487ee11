package runcible_test

// Steps of cases that are not a single call of the package, or that have another
// name in Go.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"

	"runcible"
)

type action func(r *runner, on any, given []any, options, step map[string]any) (any, error)

var actions map[string]action

func init() {
	actions = map[string]action{
		"together": together, "statuses": checkStatuses, "file": writeFile, "drop": drop, "logits": logits,
		"generate": generate, "stream": stream, "start": start, "leave": leave, "finish": finish,
		"close_all": closeAll, "answer": answer, "ask": ask,
		"append": appendTo, "decode": decode, "tokenize": tokenize, "add": addMessages,
		"switch_later": switchLater, "open_later": openLater, "discover": discover, "discover_later": discoverLater,
		"Tensor.of": newTensor, "record": record, "run_later": runLater,
		"conv2d": noOptionalTensor, "fused_linear": noOptionalTensor, "rope": noOptionalTensor,
		"sum": sum, "CustomOp.of": newCustomOp, "compute": compute, "tenant.change": changeTenant,
	}
}

func together(r *runner, _ any, _ []any, _, step map[string]any) (any, error) {
	steps := step["steps"].([]any)
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
	return nil, failed
}

func checkStatuses(_ *runner, _ any, given []any, _, _ map[string]any) (any, error) {
	expected := given[0].(map[string]any)
	for name, number := range expected {
		status, ok := statuses[name]
		if !ok || float64(status) != number {
			return nil, fmt.Errorf("%s is %d", name, status)
		}
		if text := status.Error(); text == "unknown status" || namesOfC.MatchString(text) {
			return nil, fmt.Errorf("%s is called %s", name, text)
		}
		err := fmt.Errorf("wrapped: %w", &runcible.Error{Status: status, Message: "a message"})
		if !errors.Is(err, status) || !strings.HasSuffix(err.Error(), "a message") {
			return nil, fmt.Errorf("%w is not %s", err, name)
		}
	}
	return nil, same(len(statuses), len(expected))
}

func same(found, expected any) error {
	if !reflect.DeepEqual(found, expected) {
		return fmt.Errorf("found %v", found)
	}
	return nil
}

func writeFile(_ *runner, _ any, given []any, _, _ map[string]any) (any, error) {
	return nil, os.WriteFile(given[0].(string), []byte(given[1].(string)), 0o600)
}

func drop(r *runner, _ any, given []any, _, _ map[string]any) (any, error) {
	return nil, r.get(given[0].(string)).(interface{ Close() error }).Close()
}

// begin starts a generation; the caller cancels the context.
func begin(on any, given []any, options map[string]any) (*runcible.Generation, context.CancelFunc, error) {
	ctx, cancel, made, err := generateOptions(options)
	if err != nil {
		return nil, cancel, err
	}
	var first any
	if len(given) > 0 {
		first = given[0]
	}
	prompt, _ := first.(string)
	if tokens, ok := first.([]any); ok {
		value, _ := convert(tokens, reflect.TypeOf([]int32{}))
		made = append(made, runcible.PromptTokens(value.Interface().([]int32)))
	}
	generation, err := on.(*runcible.Session).Generate(ctx, prompt, made...)
	return generation, cancel, err
}

func generate(_ *runner, on any, given []any, options, _ map[string]any) (any, error) {
	generation, cancel, err := begin(on, given, options)
	defer cancel()
	if err != nil {
		return nil, err
	}
	text, err := generation.Text()
	return map[string]any{"text": text, "report": generation.Report()}, err
}

func stream(_ *runner, on any, given []any, options, step map[string]any) (any, error) {
	generation, cancel, err := begin(on, given, options)
	defer cancel()
	if err != nil {
		return nil, err
	}
	text := ""
	pieces := []any{}
	for piece := range generation.Pieces() {
		text += piece.Text
		pieces = append(pieces, piece)
		if float64(len(pieces)) == step["cancel_after"] {
			cancel()
		}
	}
	return map[string]any{"text": text, "pieces": pieces, "report": generation.Report()}, generation.Err()
}

func start(_ *runner, on any, given []any, options, _ map[string]any) (any, error) {
	generation, _, err := begin(on, given, options)
	return generation, err
}

func leave(_ *runner, on any, given []any, options, _ map[string]any) (any, error) {
	generation, _, err := begin(on, given, options)
	if err == nil {
		_, err = generation.Next()
	}
	return generation, err
}

func closeAll(r *runner, on any, given []any, options, step map[string]any) (any, error) {
	for _, name := range given {
		if _, err := drop(r, on, []any{name}, options, step); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func finish(_ *runner, on any, _ []any, _, _ map[string]any) (any, error) {
	return on, on.(*runcible.Generation).Close()
}

func answer(_ *runner, on any, _ []any, options, _ map[string]any) (any, error) {
	ctx, cancel, made, err := generateOptions(options)
	defer cancel()
	if err != nil {
		return nil, err
	}
	answer, err := on.(*runcible.Chat).Answer(ctx, made...)
	if err != nil {
		return nil, err
	}
	reply := &runcible.Reply{}
	for part := range answer.Parts() {
		switch part := part.(type) {
		case runcible.ToolCall:
			reply.ToolCalls = append(reply.ToolCalls, part)
		case runcible.Reasoning:
			reply.Reasoning += part.Text
		case runcible.Piece:
			reply.Text += part.Text
		}
	}
	reply.Report = answer.Report()
	return reply, answer.Err()
}

func ask(_ *runner, on any, given []any, options, _ map[string]any) (any, error) {
	ctx, cancel, made, err := generateOptions(options)
	defer cancel()
	if err != nil {
		return nil, err
	}
	return on.(*runcible.Chat).Ask(ctx, given[0].(string), made...)
}

func appendTo(_ *runner, on any, given []any, _, _ map[string]any) (any, error) {
	if text, ok := given[0].(string); ok {
		return nil, on.(*runcible.Session).AppendText(text, runcible.AddSpecial)
	}
	return callFunction(reflect.ValueOf(on.(*runcible.Session).Append), given, nil)
}

func decode(_ *runner, on any, _ []any, options, _ map[string]any) (any, error) {
	if options["all_logits"] == true {
		return nil, on.(*runcible.Session).DecodeAll()
	}
	return nil, on.(*runcible.Session).Decode()
}

func tokenize(_ *runner, on any, given []any, options, _ map[string]any) (any, error) {
	flags := runcible.AddSpecial
	if options["add_special"] == false {
		flags = 0
	}
	return on.(interface {
		Tokenize(string, runcible.TokenizeFlags) ([]int32, error)
	}).Tokenize(given[0].(string), flags)
}

// addMessages adds messages to a conversation, or tensors.
func addMessages(_ *runner, on any, given []any, _, _ map[string]any) (any, error) {
	if chat, ok := on.(*runcible.Chat); ok {
		return callFunction(reflect.ValueOf(chat.Add), given, nil)
	}
	return callFunction(reflect.ValueOf(on.(*runcible.Tensor).Add), given, nil)
}

func logits(_ *runner, on any, given []any, _, _ map[string]any) (any, error) {
	logits, err := on.(*runcible.Session).Logits()
	if err != nil {
		return nil, err
	}
	row := logits[int(given[0].(float64))]
	sum, largest := 0.0, 0
	for i, logit := range row {
		sum += float64(logit)
		if logit > row[largest] {
			largest = i
		}
	}
	return map[string]any{"rows": len(logits), "vocabulary": len(row), "largest": largest, "sum": sum}, nil
}

func newTensor(_ *runner, _ any, given []any, options, _ map[string]any) (any, error) {
	backend := given[2].(*runcible.Backend)
	if options["dtype"] == "i32" {
		return callFunction(reflect.ValueOf(runcible.NewTensor[int32]), []any{backend, given[0], given[1]}, nil)
	}
	numbers, _ := convert(given[0], reflect.TypeOf([]float32{}))
	shape, _ := convert(given[1], reflect.TypeOf([]int64{}))
	return runcible.NewTensor(backend, numbers.Interface().([]float32), shape.Interface().([]int64)...)
}

func sum(_ *runner, on any, given []any, options, _ map[string]any) (any, error) {
	if len(given) == 0 {
		return on.(*runcible.Tensor).Sum(runcible.AllDimensions, false)
	}
	return callMethod(on, "sum", given, options)
}

// noOptionalTensor calls an op whose second tensor is optional.
func noOptionalTensor(_ *runner, on any, given []any, options, step map[string]any) (any, error) {
	_, op, _ := strings.Cut(text(step, "do"), ".")
	if options["style"] == "halves" {
		options = map[string]any{"halves": true}
	}
	return callMethod(on, op, append(given, nil), options)
}

func record(r *runner, _ any, given []any, _, _ map[string]any) (any, error) {
	like, _ := convert(given[1], reflect.TypeOf([]*runcible.Tensor{}))
	var kept []any
	if len(given) > 4 {
		kept = given[4].([]any)
	}
	return runcible.RecordGraph(given[0].(*runcible.Backend), like.Interface().([]*runcible.Tensor),
		func(values []*runcible.Tensor) (outputs []*runcible.Tensor, err error) {
			for _, each := range kept {
				values = append(values, each.(*runcible.Tensor))
			}
			for _, op := range given[2].([]any) {
				var operands []any
				for _, i := range op.([]any)[1:] {
					operands = append(operands, values[int(i.(float64))])
				}
				made, err := callMethod(operands[0], op.([]any)[0].(string), operands[1:], nil)
				if err != nil {
					return nil, err
				}
				values = append(values, made.(*runcible.Tensor))
				r.set("recorded", made)
			}
			for _, i := range given[3].([]any) {
				outputs = append(outputs, values[int(i.(float64))])
			}
			return outputs, nil
		})
}

// later calls a function in another goroutine, and waits for its result.
func later(call func() (any, error)) (found any, err error) {
	done := make(chan bool)
	go func() {
		found, err = call()
		close(done)
	}()
	<-done
	return found, err
}

func runLater(_ *runner, on any, given []any, _, _ map[string]any) (any, error) {
	return later(func() (any, error) { return callMethod(on, "run", given, nil) })
}

func switchLater(_ *runner, on any, given []any, _, _ map[string]any) (any, error) {
	return later(func() (any, error) { return callMethod(on, "switch", given, nil) })
}

func openLater(_ *runner, _ any, given []any, _, _ map[string]any) (any, error) {
	last := -1.0
	backend, err := later(func() (any, error) {
		return runcible.OpenBackendContext(context.Background(), given[0].(string), runcible.BackendOptions{
			Progress: func(fraction float64) error { last = fraction; return nil }})
	})
	if err != nil {
		return nil, err
	}
	return backend, same(last, 1.0)
}

func discover(_ *runner, _ any, _ []any, _, _ map[string]any) (any, error) {
	devices, automatic, err := runcible.Discover()
	return map[string]any{"devices": devices, "automatic": automatic}, err
}

func discoverLater(r *runner, on any, given []any, options, step map[string]any) (any, error) {
	return later(func() (any, error) { return discover(r, on, given, options, step) })
}

// changeTenant removes the limits that are 0 in other languages.
func changeTenant(_ *runner, on any, given []any, options, _ map[string]any) (any, error) {
	changes := map[string]any{}
	for name, value := range options {
		if value == 0.0 {
			value = float64(runcible.NoLimit)
		}
		changes[name] = value
	}
	return callMethod(on, "change", given, changes)
}

func newCustomOp(_ *runner, _ any, _ []any, options, _ map[string]any) (any, error) {
	made, _ := fields(options, reflect.TypeOf(runcible.CustomOpOptions{}))
	op := made.Interface().(runcible.CustomOpOptions)
	op.Library, op.Symbol = os.Getenv("RUNCIBLE_CUSTOM_OP"), op.Name
	return runcible.NewCustomOp(op)
}

func compute(_ *runner, on any, given []any, options, _ map[string]any) (any, error) {
	inputs, _ := convert(given[0], reflect.TypeOf([]*runcible.Tensor{}))
	return on.(*runcible.CustomOp).Compute(inputs.Interface().([]*runcible.Tensor), options["scale"].(float64))
}
