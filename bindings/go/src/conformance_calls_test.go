package runcible_test

// Calls of the package by the names in the cases, with values of JSON.

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"runcible"
)

// pascal returns the name of an option in Go.
func pascal(name string) string {
	made := ""
	for _, word := range strings.Split(name, "_") {
		if word != "" {
			made += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return made
}

// isNamed reports whether a name in Go, which may have initials, is that of a
// case.
func isNamed(name, wanted string) bool {
	return strings.EqualFold(name, strings.ReplaceAll(wanted, "_", ""))
}

// functions have another name in Go, or are not methods of a type.
var functions = map[string]any{
	"Backend.open":        runcible.OpenBackend,
	"Model.load":          runcible.LoadModel,
	"Model.from_hub":      runcible.LoadModelFromHub,
	"Tenant.create":       runcible.NewTenant,
	"Tokenizer.open":      runcible.OpenTokenizer,
	"Grammar.json_schema": runcible.NewSchemaGrammar,
	"Grammar.regex":       runcible.NewRegexGrammar,
	"Grammar.gbnf":        runcible.NewGBNFGrammar,
	"Grammar.lark":        runcible.NewLarkGrammar,
	"Grammar.choices":     runcible.NewChoicesGrammar,
	"metrics":             runcible.Metrics,
	"open_metrics":        runcible.OpenMetrics,
	"plan":                runcible.PlanModel,
	"verify":              runcible.Verify,
	"Session.restore": func(m *runcible.Model, path string, options runcible.SessionOptions) (*runcible.Session, error) {
		return m.RestoreSession(path, options)
	},
	"Session.restore_bytes": func(m *runcible.Model, saved []byte, options runcible.SessionOptions) (*runcible.Session, error) {
		return m.RestoreSessionBytes(saved, options)
	},
	"Tensor.random": func(shape []int64, backend *runcible.Backend, options map[string]any) (*runcible.Tensor, error) {
		return runcible.RandomNormal(backend, uint64(options["seed"].(float64)), 0, 1, shape...)
	},
	"Tensor.ones": func(shape []int64, backend *runcible.Backend) (*runcible.Tensor, error) {
		return runcible.Ones(backend, runcible.F32, shape...)
	},
}

// methods have other names in Go.
var methods = map[string]string{"session": "NewSession", "chat": "NewChat"}

func callMethod(target any, name string, given []any, options map[string]any) (any, error) {
	if other, ok := methods[name]; ok {
		name = other
	}
	value := reflect.ValueOf(target)
	for i := 0; value.IsValid() && i < value.NumMethod(); i++ {
		if isNamed(value.Type().Method(i).Name, name) {
			return callFunction(value.Method(i), given, options)
		}
	}
	return nil, fmt.Errorf("%T has no method %s", target, name)
}

// callFunction calls a function with arguments; missing arguments are zero.
func callFunction(function reflect.Value, given []any, options map[string]any) (any, error) {
	all, positional := given, given
	if options != nil {
		all = append(append([]any{}, given...), options)
		for _, each := range options {
			positional = append(append([]any{}, given...), each)
		}
	}
	for _, arguments := range [][]any{all, positional} {
		if made, ok := converted(arguments, function.Type()); ok {
			return results(function, made)
		}
	}
	return nil, fmt.Errorf("%v takes no %v", function.Type(), all)
}

func results(function reflect.Value, given []reflect.Value) (any, error) {
	var found []reflect.Value
	if function.Type().IsVariadic() {
		found = function.CallSlice(given)
	} else {
		found = function.Call(given)
	}
	if len(found) == 0 {
		return nil, nil
	}
	if err, ok := found[len(found)-1].Interface().(error); ok {
		return nil, err
	}
	return found[0].Interface(), nil
}

func converted(given []any, kind reflect.Type) (made []reflect.Value, ok bool) {
	for i := 0; i < kind.NumIn(); i++ {
		in := kind.In(i)
		value := reflect.Zero(in)
		switch {
		case in == reflect.TypeOf((*context.Context)(nil)).Elem():
			value = reflect.ValueOf(context.Background())
		case kind.IsVariadic() && i == kind.NumIn()-1:
			rest := given
			if len(given) == 1 {
				if list, isList := given[0].([]any); isList {
					rest = list
				}
			}
			if value, ok = convert(rest, in); !ok {
				return nil, false
			}
			given = nil
		case len(given) > 0:
			if value, ok = convert(given[0], in); !ok {
				return nil, false
			}
			given = given[1:]
		case in.Kind() == reflect.Int64: // the last dimension
			value = reflect.ValueOf(int64(-1)).Convert(in)
		}
		made = append(made, value)
	}
	return made, len(given) == 0
}

// convert converts a value to the type of an argument or a field.
func convert(given any, kind reflect.Type) (reflect.Value, bool) {
	value := reflect.ValueOf(given)
	switch {
	case given == nil:
		return reflect.Zero(kind), true
	case value.Type().AssignableTo(kind):
		return value, true
	case kind == reflect.TypeOf((*runcible.Tokenizer)(nil)):
		if model, ok := given.(*runcible.Model); ok {
			tokenizer, err := model.Tokenizer()
			return reflect.ValueOf(tokenizer), err == nil
		}
	case kind.Kind() == reflect.Ptr:
		if item, ok := convert(given, kind.Elem()); ok {
			made := reflect.New(kind.Elem())
			made.Elem().Set(item)
			return made, true
		}
	}
	switch given := given.(type) {
	case float64:
		if value.CanConvert(kind) && kind.Kind() != reflect.String {
			return value.Convert(kind), true
		}
	case string:
		known := map[string]any{"shift": runcible.FullShifts, "relu": runcible.ReLU}
		if made := reflect.ValueOf(known[given]); made.IsValid() && made.Type() == kind {
			return made, true
		}
		if kind == reflect.TypeOf(runcible.F32) {
			dtype, err := runcible.ParseDType(given)
			return reflect.ValueOf(dtype), err == nil
		}
	case []any:
		if kind == reflect.TypeOf([2]int32{}) {
			return reflect.ValueOf([2]int32{int32(given[0].(float64)), int32(given[1].(float64))}), true
		}
		if kind.Kind() != reflect.Slice {
			break
		}
		made := reflect.MakeSlice(kind, 0, len(given))
		for _, each := range given {
			item, ok := convert(each, kind.Elem())
			if !ok {
				return value, false
			}
			made = reflect.Append(made, item)
		}
		return made, true
	case map[string]any:
		if kind.Kind() == reflect.Map && value.CanConvert(kind) {
			return value.Convert(kind), true
		}
		if kind.Kind() == reflect.Struct {
			return fields(given, kind)
		}
	}
	return value, false
}

// fields makes a struct with fields of these names.
func fields(given map[string]any, kind reflect.Type) (reflect.Value, bool) {
	made := reflect.New(kind).Elem()
	for name, each := range given {
		field := made.FieldByNameFunc(func(other string) bool { return isNamed(other, name) })
		if !field.IsValid() {
			return made, false
		}
		value, ok := convert(each, field.Type())
		if !ok {
			return made, false
		}
		field.Set(value)
	}
	return made, true
}

// member returns the member of an object with a name.
func member(found any, name string) (any, error) {
	if made, ok := found.(map[string]any); ok {
		return made[name], nil
	}
	if tensor, ok := found.(*runcible.Tensor); ok && name == "numbers" {
		return numbersOf(tensor)
	}
	if text, ok := found.([]byte); ok {
		var value map[string]any
		err := json.Unmarshal(text, &value)
		return value[name], err
	}
	if metadata, ok := found.(map[string]json.RawMessage); ok {
		var value any
		err := json.Unmarshal(metadata[name], &value)
		return value, err
	}
	value := reflect.Indirect(reflect.ValueOf(found))
	if value.Kind() == reflect.Struct {
		field := value.FieldByNameFunc(func(other string) bool { return isNamed(other, name) })
		if field.IsValid() && field.CanInterface() {
			return field.Interface(), nil
		}
	}
	return callMethod(found, name, nil, nil)
}

func numbersOf(tensor *runcible.Tensor) (any, error) {
	numbers, err := runcible.Numbers[float32](tensor)
	if err != nil {
		numbers, err := runcible.Numbers[int32](tensor)
		return elements(numbers), err
	}
	return elements(numbers), nil
}

// generateOptions returns the options of a generation; the caller cancels the
// context.
func generateOptions(given map[string]any) (context.Context, context.CancelFunc, []runcible.GenerateOption, error) {
	ctx, cancel := context.WithCancel(context.Background())
	var options []runcible.GenerateOption
	for name, value := range given {
		switch function, ok := map[string]any{
			"temperature": runcible.Temperature, "top_k": runcible.TopK, "typical_p": runcible.TypicalP,
			"top_p": runcible.TopP, "max_tokens": runcible.MaxTokens, "seed": runcible.Seed,
			"logprobs": runcible.Logprobs, "grammar": runcible.WithGrammar, "stop": runcible.Stop,
			"stop_tokens": runcible.StopTokens, "tool_choice": runcible.ToolChoice,
			"response_format": runcible.ResponseFormat,
		}[name]; {
		case ok:
			option, err := callFunction(reflect.ValueOf(function), []any{value}, nil)
			if err != nil {
				return ctx, cancel, nil, err
			}
			options = append(options, option.(runcible.GenerateOption))
		case name == "ignore_eos":
			options = append(options, runcible.IgnoreEOS())
		case name == "echo":
			options = append(options, runcible.Echo())
		case name == "deadline":
			ctx, cancel = context.WithTimeout(ctx, time.Duration(value.(float64)*float64(time.Second)))
		case name == "logit_bias":
			for _, each := range value.([]any) {
				pair := each.([]any)
				bias := math.Inf(-1)
				if pair[1] != nil {
					bias = pair[1].(float64)
				}
				options = append(options, runcible.LogitBias(int32(pair[0].(float64)), float32(bias)))
			}
		default:
			return ctx, cancel, nil, fmt.Errorf("the option %s is not known", name)
		}
	}
	return ctx, cancel, options, nil
}
