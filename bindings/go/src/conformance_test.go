package runcible_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
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

// missing has the cases that Go does not support, and why.
var missing = map[string]string{
	"generations that are left": "Go's programs end a generation by its context or Close",
}

// runner runs the steps of one case; see bindings/conformance.
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

// value resolves a value of a step: "$name" is an object.
func (r *runner) value(given any) any {
	switch given := given.(type) {
	case []any:
		made := []any{}
		for _, each := range given {
			made = append(made, r.value(each))
		}
		return made
	case map[string]any:
		made := map[string]any{}
		for name, each := range given {
			made[name] = r.value(each)
		}
		return made
	case string:
		if strings.HasPrefix(given, "$") {
			kind, rest, _ := strings.Cut(given[1:], "/")
			return r.named(kind, rest)
		}
	}
	return given
}

func (r *runner) named(kind, rest string) any {
	switch kind {
	case "path":
		return filepath.Join(r.folder, rest)
	case "backend":
		backend, err := runcible.OpenBackend(rest, runcible.BackendOptions{})
		if err != nil {
			return err
		}
		return backend
	case "golden":
		found := r.golden
		for _, key := range strings.Split(rest, "/") {
			if list, ok := found.([]any); ok {
				i, _ := strconv.Atoi(key)
				found = list[i]
			} else {
				found = found.(map[string]any)[key]
			}
		}
		return found
	}
	found := r.get(kind)
	if rest != "" {
		found, _ = member(found, rest)
	}
	return found
}

func text(step map[string]any, name string) string {
	text, _ := step[name].(string)
	return text
}

// namesOfC must not be in a message.
var namesOfC = regexp.MustCompile(`\b(rc|RC)_|->`)

// run runs a step, and checks the error that it asks for.
func (r *runner) run(step map[string]any) error {
	if strings.Contains(fmt.Sprint(step["except"]), "Go") {
		return nil
	}
	if step["raises"] == "TYPE" || step["raises"] == "VALUE" {
		return nil // the compiler refuses such programs
	}
	err := r.act(step)
	if step["raises"] == nil {
		if err != nil {
			return fmt.Errorf("%v: %w", step, err)
		}
		return nil
	}
	var failed *runcible.Error
	switch wanted := statuses[text(step, "raises")]; {
	case err == nil:
		return fmt.Errorf("%v raised nothing", step)
	case !errors.Is(err, wanted) || !errors.As(err, &failed) || failed.Status != wanted:
		return fmt.Errorf("%v raised %w", step, err)
	case failed.Message == "" || !strings.Contains(failed.Message, text(step, "says")) ||
		!strings.HasPrefix(failed.Message, pascal(text(step, "names"))) || namesOfC.MatchString(failed.Message):
		return fmt.Errorf("%v has the message %q", step, failed.Message)
	case step["retries"] != nil && (failed.RetryAfter != nil) != step["retries"]:
		return fmt.Errorf("%v states when to try again: %v", step, failed.RetryAfter)
	case step["reason"] != nil && (failed.Report == nil || failed.Report.Reason.String() != step["reason"]):
		return fmt.Errorf("%v has the report %v", step, failed.Report)
	}
	return nil
}

func (r *runner) act(step map[string]any) error {
	found, err := r.call(step)
	if err != nil {
		return err
	}
	switch as := step["as"].(type) {
	case string:
		r.set(as, found)
	case []any:
		if err := count(found, len(as)); err != nil {
			return err
		}
		for i, name := range as {
			r.set(name.(string), reflect.ValueOf(found).Index(i).Interface())
		}
	}
	if expected, ok := step["expect"]; ok {
		return r.check(found, r.value(expected))
	}
	return nil
}

// call calls the function that a step names, of an object or of the package.
func (r *runner) call(step map[string]any) (any, error) {
	on, method, _ := strings.Cut(text(step, "do"), ".")
	target := r.get(on)
	given, _ := r.value(step["with"]).([]any)
	for _, each := range given {
		if err, ok := each.(error); ok {
			return nil, err
		}
	}
	options, _ := r.value(step["options"]).(map[string]any)
	name := method
	if name == "" {
		name = on
	}
	for _, each := range []string{text(step, "do"), name} {
		if action, ok := actions[each]; ok {
			return action(r, target, given, options, step)
		}
		if function, ok := functions[each]; ok && target == nil {
			return callFunction(reflect.ValueOf(function), given, options)
		}
	}
	if method == "" {
		return target, nil
	}
	return callMethod(target, method, given, options)
}

func count(found any, wanted int) error {
	if length := reflect.ValueOf(found).Len(); length != wanted {
		return fmt.Errorf("%d of %v, not %d", length, found, wanted)
	}
	return nil
}

func number(found any) (float64, bool) {
	value := reflect.ValueOf(found)
	if !value.IsValid() || !value.CanConvert(reflect.TypeOf(0.0)) {
		return 0, false
	}
	return value.Convert(reflect.TypeOf(0.0)).Float(), true
}

// elements returns the elements of a list.
func elements(found any) (all []any) {
	if found == nil {
		return nil
	}
	value := reflect.ValueOf(found)
	for i := 0; i < value.Len(); i++ {
		all = append(all, value.Index(i).Interface())
	}
	return all
}

// check compares a result with the expected part of it.
func (r *runner) check(found, expected any) error {
	if wanted, ok := number(expected); ok {
		if each, ok := number(found); !ok || each != wanted {
			return fmt.Errorf("found %v instead of %v", found, expected)
		}
		return nil
	}
	switch expected := expected.(type) {
	case []any:
		if err := count(found, len(expected)); err != nil {
			return err
		}
		for i, each := range elements(found) {
			if err := r.check(each, expected[i]); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
		return nil
	case map[string]any:
		for name, wanted := range expected {
			var err error
			if strings.HasPrefix(name, "$") {
				err = r.compare(name, found, wanted, expected["$by"])
			} else {
				var value any
				if value, err = member(found, name); err == nil {
					err = r.check(value, wanted)
				}
			}
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	case bool:
		if found == expected {
			return nil
		}
	case string:
		if found == runcible.CPU {
			found = "cpu"
		}
		if raw, ok := found.(json.RawMessage); ok {
			return r.check(string(raw), strconv.Quote(expected))
		}
		if strings.EqualFold(fmt.Sprint(found), expected) && (found != "" || expected == "") {
			if text, ok := found.(string); !ok || text == expected {
				return nil
			}
		}
	}
	return fmt.Errorf("found %v instead of %v", found, expected)
}

func (r *runner) compare(name string, found, wanted, by any) error {
	holds := true
	switch name {
	case "$by":
	case "$same":
		text, err := json.Marshal(found)
		if err != nil {
			return err
		}
		var plain any
		if err := json.Unmarshal(text, &plain); err != nil {
			return err
		}
		holds = reflect.DeepEqual(plain, wanted)
	case "$not":
		holds = r.check(found, wanted) != nil
	case "$near":
		all, numbers := []any{wanted}, []any{found}
		if list, ok := wanted.([]any); ok {
			all, numbers = list, elements(found)
		}
		for i, each := range all {
			value, ok := number(numbers[i])
			holds = holds && ok && math.Abs(value-each.(float64)) <= by.(float64)
		}
	case "$least":
		value, ok := number(found)
		holds = ok && value >= wanted.(float64)
	case "$most":
		value, ok := number(found)
		holds = ok && value <= wanted.(float64)
	case "$count":
		return r.check(reflect.ValueOf(found).Len(), wanted)
	case "$some":
		holds = false
		for _, each := range elements(found) {
			holds = holds || r.check(each, wanted) == nil
		}
	case "$any":
		holds = false
		for _, each := range wanted.([]any) {
			holds = holds || r.check(found, each) == nil
		}
	case "$all":
		for _, each := range elements(found) {
			holds = holds && r.check(each, wanted) == nil
		}
	case "$start_of":
		holds = found != "" && strings.HasPrefix(wanted.(string), found.(string))
	case "$but_last":
		all := wanted.([]any)
		length := reflect.ValueOf(found).Len()
		if length == len(all)-1 {
			all = all[:length]
		}
		return r.check(found, all)
	default:
		return fmt.Errorf("there is no comparison %s", name)
	}
	if !holds {
		return fmt.Errorf("found %v, wanted %v", found, wanted)
	}
	return nil
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
// environment variable RUNCIBLE_CASES names, and reports which ones passed.
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
		if reason, ok := missing[c.Name]; ok {
			lines += "missing\t" + c.Name + "\t" + reason + "\n"
			continue
		}
		passed := t.Run(c.Name, func(t *testing.T) {
			r := &runner{folder: t.TempDir(), golden: golden, objects: map[string]any{}}
			for _, step := range c.Steps {
				if err := r.run(step); err != nil {
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
