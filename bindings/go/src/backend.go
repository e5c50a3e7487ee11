package runcible

import (
	"context"
	"math"
	"time"

	"runcible/internal/native"
)

// Backend is an open device.
//
//runcible:doc rc_backend
type Backend struct {
	handle *handle[native.Backend]
}

// BackendOptions describe how to open a backend. A field with its zero value is
// not set: it takes the configured value, else its default.
type BackendOptions struct {
	// :api: fields rc_backend_options
	//runcible:doc rc_backend_options.tenant
	Tenant *Tenant
	// Receives the fraction done, 0 to 1, while devices are looked for and one is
	// opened, on the goroutine that opens. Returning an error cancels the opening,
	// which returns that error.
	Progress func(fraction float64) error
}

// OpenBackend opens a device.
//
//runcible:doc rc_backend_open
func OpenBackend(spec string, options BackendOptions) (*Backend, error) {
	return OpenBackendContext(context.Background(), spec, options)
}

// OpenBackendContext is OpenBackend with a context: the opening is cancelled when
// the context is done.
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
	if options.Tenant != nil {
		err := options.Tenant.with(func(tenant native.Tenant) error {
			o.Set_tenant(tenant)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	reporter := &progressReporter{ctx: ctx, report: options.Progress}
	function := reporter.function()
	defer function.Delete()
	o.Set_progress(uint64(function))
	var pointer uintptr
	if err := native.Backend_open(name, o, &pointer); err != nil && reporter.goesOn() {
		return nil, err
	}
	backend := &Backend{newHandle[native.Backend]("Backend",
		native.SwigcptrBackend(pointer), native.DeleteBackend)}
	if reporter.goesOn() {
		return backend, nil
	}
	// The backend may be open before the cancellation takes effect.
	backend.handle.close()
	if reporter.panicked != nil {
		panic(reporter.panicked)
	}
	return nil, reporter.err
}

// BackendSwitchOptions describe how to switch. The zero value has the library's
// defaults.
type BackendSwitchOptions struct {
	// :api: fields rc_backend_switch_options
	// Receives the fraction done, 0 to 1, while devices are opened and models are
	// loaded, on the goroutine that switches. Returning an error cancels the switch,
	// which returns that error and leaves everything as it was.
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
	reporter := &progressReporter{ctx: ctx, report: options.Progress}
	function := reporter.function()
	defer function.Delete()
	o.Set_progress(uint64(function))
	err = native.Backend_switch(proxy, name, o)
	if reporter.panicked != nil {
		panic(reporter.panicked)
	}
	if err != nil && reporter.err != nil {
		return reporter.err
	}
	return err
}

// milliseconds rounds up, so that a short time does not become 0.
func milliseconds(duration time.Duration) int64 {
	ms := int64(duration / time.Millisecond)
	if duration > time.Duration(ms)*time.Millisecond {
		ms++
	}
	return ms
}

// milliseconds32 is milliseconds in 32 bits; longer times become the largest number.
func milliseconds32(duration time.Duration) int32 {
	if ms := milliseconds(duration); ms < math.MaxInt32 {
		return int32(ms)
	}
	return math.MaxInt32
}
