package runcible_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"runcible"
)

var statuses = map[string]runcible.Status{
	"INVALID_ARGUMENT":    runcible.ErrInvalidArgument,
	"OUT_OF_MEMORY":       runcible.ErrOutOfMemory,
	"NOT_FOUND":           runcible.ErrNotFound,
	"IO":                  runcible.ErrIO,
	"FORMAT":              runcible.ErrFormat,
	"UNSUPPORTED":         runcible.ErrUnsupported,
	"BACKEND_UNAVAILABLE": runcible.ErrBackendUnavailable,
	"DEVICE":              runcible.ErrDevice,
	"DEVICE_LOST":         runcible.ErrDeviceLost,
	"DEVICE_MEMORY":       runcible.ErrDeviceMemory,
	"TIMEOUT":             runcible.ErrTimeout,
	"CANCELLED":           runcible.ErrCancelled,
	"DEADLINE":            runcible.ErrDeadline,
	"CONTEXT_FULL":        runcible.ErrContextFull,
	"BUSY":                runcible.ErrBusy,
	"QUOTA":               runcible.ErrQuota,
	"CLOSED":              runcible.ErrClosed,
	"ABI":                 runcible.ErrABI,
	"INTERNAL":            runcible.ErrInternal,
}

// step is one step of a case, with its values found.
type step map[string]any

func (s step) text(name string) string {
	text, _ := s[name].(string)
	return text
}

func (s step) number(name string) float64 {
	return s[name].(float64)
}

func (s step) options(name string) step {
	options, _ := s[name].(map[string]any)
	return options
}

func tokensOf(value any) []int32 {
	var tokens []int32
	for _, token := range value.([]any) {
		tokens = append(tokens, int32(token.(float64)))
	}
	return tokens
}

// runner runs the steps of one case.
type runner struct {
	folder  string
	golden  any
	mutex   sync.Mutex // of the objects
	objects map[string]any
}

func (r *runner) get(name string) any {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.objects[name]
}

func (r *runner) set(name string, object any) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.objects[name] = object
}

func (r *runner) session(s step) *runcible.Session {
	return r.get(s.text("session")).(*runcible.Session)
}
func (r *runner) model(s step) *runcible.Model { return r.get(s.text("model")).(*runcible.Model) }
func (r *runner) tensor(name string) *runcible.Tensor {
	return r.get(name).(*runcible.Tensor)
}

// value is what a step means by a value.
func (r *runner) value(given any) any {
	object, ok := given.(map[string]any)
	if !ok {
		return given
	}
	if name, ok := object["file"]; ok {
		return r.get(name.(string))
	}
	path, ok := object["golden"]
	if !ok {
		return given
	}
	found := r.golden
	for _, key := range strings.Split(path.(string), "/") {
		if list, ok := found.([]any); ok {
			i, _ := strconv.Atoi(key)
			found = list[i]
		} else {
			found = found.(map[string]any)[key]
		}
	}
	return found
}

// namesOfC must not be in a message.
var namesOfC = regexp.MustCompile(`\b(rc|RC)_|->`)

// pascal is the name of an option in Go.
func pascal(name string) string {
	made := ""
	for _, word := range strings.Split(name, "_") {
		if word != "" {
			made += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return made
}

// run runs a step, and checks the error that it asks for.
func (r *runner) run(given map[string]any) error {
	s := step{}
	for name, value := range given {
		s[name] = r.value(value)
	}
	action, ok := actions[s.text("do")]
	if !ok {
		return fmt.Errorf("a step of a kind that is not known: %v", given)
	}
	err := action(r, s)
	raises, ok := s["raises"]
	if !ok {
		if err != nil {
			return fmt.Errorf("%v: %w", given, err)
		}
		return nil
	}
	var failed *runcible.Error
	switch wanted := statuses[raises.(string)]; {
	case err == nil:
		return fmt.Errorf("%v raised nothing", given)
	case !errors.Is(err, wanted) || !errors.As(err, &failed) || failed.Status != wanted:
		return fmt.Errorf("%v raised %w", given, err)
	case failed.Message == "" || !strings.Contains(failed.Message, s.text("says")) ||
		!strings.Contains(failed.Message, pascal(s.text("names"))) || namesOfC.MatchString(failed.Message):
		return fmt.Errorf("%v has the message %q", given, failed.Message)
	case s["reason"] != nil && (failed.Report == nil || failed.Report.Reason.String() != s["reason"]):
		return fmt.Errorf("%v has the report %v", given, failed.Report)
	}
	return nil
}

var actions map[string]func(*runner, step) error

func init() {
	actions = map[string]func(*runner, step) error{
		"load": load, "embed": embed, "rerank": rerank, "report": report, "tokenize": tokenize, "detokenize": detokenize,
		"session": newSession, "generate": generate, "stream": stream,
		"together": together, "tokens": tokens, "append": appendTo, "statuses": checkStatuses,
		"file": writeFile, "start": start, "finish": finish, "close": closeObject, "save": save,
		"restore": restore, "fork": fork, "decode": decode, "logits": logits,
		"tensor": newTensor, "matmul": matmul, "quantize": quantize, "read": read,
		"grammar": newGrammar, "chat": newChat, "add": addMessages, "undo": undo,
		"messages": messages, "fork_chat": forkChat, "answer": answer, "ask": ask,
		"record": record, "run": runGraph, "run_later": runLater,
		"open_later": openLater, "discover_later": discoverLater,
		"switch": switchBackend, "custom_op": newCustomOp, "compute": compute,
	}
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// TestCases runs the cases of bindings/conformance in the file that the
// environment variable RUNCIBLE_CASES names, and reports how they went.
func TestCases(t *testing.T) {
	path := os.Getenv("RUNCIBLE_CASES")
	if path == "" {
		t.Skip("RUNCIBLE_CASES does not name the cases")
	}
	var document struct {
		Golden string
		Cases  []struct {
			Name  string
			Steps []map[string]any
		}
	}
	readJSON(t, path, &document)
	var golden any
	readJSON(t, filepath.Join(filepath.Dir(path), document.Golden), &golden)
	lines := "language\tGo\n"
	for _, c := range document.Cases {
		passed := t.Run(c.Name, func(t *testing.T) {
			r := &runner{folder: t.TempDir(), golden: golden, objects: map[string]any{}}
			for _, given := range c.Steps {
				if err := r.run(given); err != nil {
					t.Fatal(err)
				}
			}
		})
		if passed {
			lines += "passed\t" + c.Name + "\n"
		}
	}
	if path := os.Getenv("RUNCIBLE_CASES_REPORT"); path != "" {
		if err := os.WriteFile(path, []byte(lines), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
