package runcible

import (
	"context"
	"encoding/json"
	"strings"

	"runcible/internal/native"
)

// Model is a language model on a device.
//
//runcible:doc rc_model
type Model struct {
	handle *handle[native.Model]
}

// ModelOptions describe how to load a model. A field with its zero value is not
// set: it takes the configured value, else its default.
type ModelOptions struct {
	// :api: fields rc_model_options
	// Receives the fraction done, 0 to 1, during loading, on the goroutine that
	// loads. Returning an error cancels the load, which returns that error.
	Progress func(fraction float64) error
}

// LoadModel loads a model; blocks. If the context is done, the load is cancelled.
// If the backend is nil, the library chooses one.
//
//runcible:doc rc_model_load
func LoadModel(ctx context.Context, path string, backend *Backend, options ModelOptions) (*Model, error) {
	if err := contextError(ctx); err != nil {
		return nil, err
	}
	if backend == nil {
		chosen, err := OpenBackend("", BackendOptions{})
		if err != nil {
			return nil, err
		}
		defer chosen.Close()
		backend = chosen
	}
	name, err := makeName("the path", path)
	if err != nil {
		return nil, err
	}
	b, err := backend.use()
	if err != nil {
		return nil, err
	}
	defer backend.handle.done()
	o, err := options.native()
	if err != nil {
		return nil, err
	}
	defer native.DeleteModel_options(o)

	reporter := &progressReporter{ctx: ctx, report: options.Progress}
	function := reporter.function()
	defer function.Delete()
	o.Set_progress(uint64(function))
	var pointer uintptr
	if err := native.Model_load(b, name, o, &pointer); err != nil && reporter.goesOn() {
		return nil, err
	}
	model := &Model{newHandle[native.Model]("Model",
		native.SwigcptrModel(pointer), native.DeleteModel)}
	if reporter.goesOn() {
		return model, nil
	}
	// The load may be done before the cancellation takes effect.
	model.handle.close()
	if reporter.panicked != nil {
		panic(reporter.panicked)
	}
	return nil, reporter.err
}

// LoadModelFromHub fetches the parts of a model on a hub that are not yet on this
// machine, and loads the model. The source is "OWNER/NAME", "OWNER/NAME:FILE" or
// "OWNER/NAME:Q4_K_M", with or without the prefix "hf:"; the rest is as for
// LoadModel.
//
//runcible:doc rc_model_fetch
func LoadModelFromHub(ctx context.Context, source string, backend *Backend, options ModelOptions) (*Model, error) {
	if err := contextError(ctx); err != nil {
		return nil, err
	}
	if abiError != nil {
		return nil, abiError
	}
	if !strings.HasPrefix(source, "hf:") {
		source = "hf:" + source
	}
	name, err := makeName("the source", source)
	if err != nil {
		return nil, err
	}
	none, err := makeName("nothing", "")
	if err != nil {
		return nil, err
	}
	var path native.Memory
	if err := native.Model_fetch(name, none, none, none, &path); err != nil {
		return nil, err
	}
	return LoadModel(ctx, path.TakeText(), backend, options)
}

// Tokenizer returns the model's tokenizer, which the caller closes.
// ErrUnsupported: the model has none.
func (m *Model) Tokenizer() (*Tokenizer, error) {
	model, err := m.use()
	if err != nil {
		return nil, err
	}
	defer m.handle.done()
	var pointer uintptr
	if err := native.Model_get_tokenizer(model, &pointer); err != nil {
		return nil, err
	}
	return newTokenizer(pointer), nil
}

// Tokenize converts text to tokens.
//
//runcible:doc rc_tokenize
func (m *Model) Tokenize(text string, flags TokenizeFlags) ([]int32, error) {
	tokenizer, err := m.Tokenizer()
	if err != nil {
		return nil, err
	}
	defer tokenizer.Close()
	return tokenizer.Tokenize(text, flags)
}

// Detokenize converts tokens to text.
//
//runcible:doc rc_detokenize
func (m *Model) Detokenize(tokens []int32, special bool) (string, error) {
	tokenizer, err := m.Tokenizer()
	if err != nil {
		return "", err
	}
	defer tokenizer.Close()
	return tokenizer.Detokenize(tokens, special)
}

// Metadata returns the metadata of the model's file, each value as JSON.
func (m *Model) Metadata() (map[string]json.RawMessage, error) {
	model, err := m.use()
	if err != nil {
		return nil, err
	}
	defer m.handle.done()
	var pointer uintptr
	if err := native.Model_get_info(model, &pointer); err != nil {
		return nil, err
	}
	info := native.SwigcptrModel_info(pointer)
	defer native.DeleteModel_info(info)
	metadata := map[string]json.RawMessage{}
	for i := int64(0); i < native.Model_info_metadata_count(info); i++ {
		var key, kind, value native.Memory
		if err := native.Model_info_metadata(info, i, &key, &kind); err != nil {
			return nil, err
		}
		name, err := makeName("a key", key.Text())
		if err != nil {
			return nil, err
		}
		if err := native.Model_info_value(info, name, 0, &value); err != nil {
			return nil, err
		}
		metadata[key.Text()] = json.RawMessage(value.TakeText())
	}
	return metadata, nil
}

// Verify reads a file to its end.
//
//runcible:doc rc_model_verify
func Verify(path string) error {
	if abiError != nil {
		return abiError
	}
	name, err := makeName("the path", path)
	if err != nil {
		return err
	}
	return native.Model_verify(name)
}
