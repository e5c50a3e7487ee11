package runcible

import (
	"context"
	"time"

	"runcible/internal/native"
)

// Backend is an open device.
//
//runcible:doc rc_backend
type Backend struct {
	handle *handle[native.Backend]
}

// BackendOptions tell how to open a backend. A field with its zero value is not
// set: it takes what is configured, else its default.
type BackendOptions struct {
	// :api: fields rc_backend_options
	// Told while devices are looked for and one is opened: the fraction done, 0
	// to 1, on the goroutine that opens. Returning an error cancels the opening,
	// which returns that error.
	Progress func(fraction float64) error
}

// OpenBackend opens a device.
//
//runcible:doc rc_backend_open
func OpenBackend(spec string, options BackendOptions) (*Backend, error) {
	return OpenBackendContext(context.Background(), spec, options)
}

// OpenBackendContext is OpenBackend, which a context that is done cancels.
func OpenBackendContext(ctx context.Context, spec string, options BackendOptions) (*Backend, error) {
	if err := contextError(ctx); err != nil {
		return nil, err
	}
	if abiError != nil {
		return nil, abiError
	}
	name, err := makeName("the spec", spec)
	if err != nil {
		return nil, err
	}
	o, err := options.native()
	if err != nil {
		return nil, err
	}
	defer native.DeleteBackend_options(o)
	told := &telling{ctx: ctx, tell: options.Progress}
	function := told.function()
	defer function.Delete()
	o.Set_progress(uint64(function))
	var pointer uintptr
	if err := native.Backend_open(name, o, &pointer); err != nil && told.goesOn() {
		return nil, err
	}
	backend := &Backend{newHandle[native.Backend]("Backend",
		native.SwigcptrBackend(pointer), native.DeleteBackend)}
	if told.goesOn() {
		return backend, nil
	}
	// It may be open before it hears that it was cancelled.
	backend.handle.close()
	if told.panicked != nil {
		panic(told.panicked)
	}
	return nil, told.err
}

// BackendSwitchOptions of the zero value are the library's defaults.
type BackendSwitchOptions struct {
	// :api: fields rc_backend_switch_options
	// Told while devices are opened and models are loaded: the fraction done, 0 to
	// 1, on the goroutine that switches. Returning an error cancels the switch,
	// which returns that error; all is then as it was.
	Progress func(fraction float64) error
}

// Switch puts the backend on another device.
//
//runcible:doc rc_backend_switch
func (b *Backend) Switch(ctx context.Context, spec string, options BackendSwitchOptions) error {
	if err := contextError(ctx); err != nil {
		return err
	}
	proxy, err := b.handle.use()
	if err != nil {
		return err
	}
	defer b.handle.done()
	name, err := makeName("the spec", spec)
	if err != nil {
		return err
	}
	o, err := options.native()
	if err != nil {
		return err
	}
	defer native.DeleteBackend_switch_options(o)
	told := &telling{ctx: ctx, tell: options.Progress}
	function := told.function()
	defer function.Delete()
	o.Set_progress(uint64(function))
	err = native.Backend_switch(proxy, name, o)
	if told.panicked != nil {
		panic(told.panicked)
	}
	if err != nil && told.err != nil {
		return told.err
	}
	return err
}

// milliseconds rounds up, so that a short time is not none.
func milliseconds(duration time.Duration) int64 {
	ms := int64(duration / time.Millisecond)
	if duration > time.Duration(ms)*time.Millisecond {
		ms++
	}
	return ms
}
