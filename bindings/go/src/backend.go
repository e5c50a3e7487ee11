package runcible

import (
	"encoding/json"
	"time"

	"runcible/internal/native"
)

// Backend is an open device.
//
//runcible:doc rc_backend
type Backend struct {
	handle *handle[native.Backend]
}

// BackendOptions of the zero value are the library's defaults.
type BackendOptions struct {
	//runcible:doc rc_backend_options.required_memory
	RequiredMemory uint64
	//runcible:doc rc_backend_options.memory_limit
	MemoryLimit uint64
	//runcible:doc rc_backend_options.threads
	Threads int32
	//runcible:doc rc_backend_options.max_requests
	MaxRequests int32
	// The longest that one step on the device, or one tensor op, may take before
	// its requests end with ErrTimeout; in whole milliseconds, 0: no limit. A
	// device that does not stop within five seconds more is given up.
	Timeout time.Duration
	//runcible:doc rc_backend_options.strict
	Strict bool
	//runcible:doc rc_backend_options.profile
	Profile bool
}

// OpenBackend opens a device.
//
//runcible:doc rc_backend_open
func OpenBackend(spec string, options BackendOptions) (*Backend, error) {
	if abiError != nil {
		return nil, abiError
	}
	name, err := makeName("the spec", spec)
	if err != nil {
		return nil, err
	}
	o := native.NewBackend_options()
	defer native.DeleteBackend_options(o)
	if err := made(o); err != nil {
		return nil, err
	}
	o.SetRequired_memory(options.RequiredMemory)
	o.SetMemory_limit(options.MemoryLimit)
	o.SetThreads(options.Threads)
	o.SetMax_requests(options.MaxRequests)
	o.SetTimeout_ms(milliseconds(options.Timeout))
	o.SetStrict(flag(options.Strict))
	o.SetProfile(flag(options.Profile))
	var pointer uintptr
	if err := native.Backend_open(name, o, &pointer); err != nil {
		return nil, err
	}
	return &Backend{newHandle[native.Backend]("Backend",
		native.SwigcptrBackend(pointer), native.DeleteBackend)}, nil
}

// milliseconds rounds up, so that a short time is not none.
func milliseconds(duration time.Duration) int64 {
	ms := int64(duration / time.Millisecond)
	if duration > time.Duration(ms)*time.Millisecond {
		ms++
	}
	return ms
}

// Close gives the backend back; what uses it goes on.
func (b *Backend) Close() error {
	b.handle.close()
	return nil
}

func (b *Backend) use() (native.Backend, error) {
	if b == nil {
		return nil, newError(ErrInvalidArgument, "the backend is nil")
	}
	return b.handle.use()
}

// Explain accounts for the choice of the device, as decoded JSON.
//
//runcible:doc rc_backend_explain
func (b *Backend) Explain() (map[string]any, error) {
	backend, err := b.use()
	if err != nil {
		return nil, err
	}
	defer b.handle.done()
	var text native.Memory
	if err := native.Backend_explain(backend, &text); err != nil {
		return nil, err
	}
	var account map[string]any
	return account, json.Unmarshal([]byte(text.Text()), &account)
}

// Trace tells when ops began and ended, as JSON.
//
//runcible:doc rc_backend_trace
func (b *Backend) Trace() ([]byte, error) {
	backend, err := b.use()
	if err != nil {
		return nil, err
	}
	defer b.handle.done()
	var text native.Memory
	if err := native.Backend_trace(backend, &text); err != nil {
		return nil, err
	}
	return []byte(text.TakeText()), nil
}

// Device describes the device that was opened.
//
//runcible:doc rc_backend_device
func (b *Backend) Device() (*Device, error) {
	backend, err := b.use()
	if err != nil {
		return nil, err
	}
	defer b.handle.done()
	return describe(func(report native.Device_report) error {
		return native.Backend_device(backend, report)
	})
}

// Usage is what a backend has done.
//
//runcible:doc rc_backend_usage_report
type Usage struct {
	Requests        uint64
	PromptTokens    uint64
	CachedTokens    uint64
	GeneratedTokens uint64
	Compute         time.Duration
	Memory          uint64
	PeakMemory      uint64
}

// Usage tells what the backend has done since it was opened.
func (b *Backend) Usage() (*Usage, error) {
	backend, err := b.use()
	if err != nil {
		return nil, err
	}
	defer b.handle.done()
	r := native.NewBackend_usage_report()
	defer native.DeleteBackend_usage_report(r)
	if err := made(r); err != nil {
		return nil, err
	}
	if err := native.Backend_usage(backend, r); err != nil {
		return nil, err
	}
	return &Usage{
		Requests:        r.GetRequests(),
		PromptTokens:    r.GetPrompt_tokens(),
		CachedTokens:    r.GetCached_tokens(),
		GeneratedTokens: r.GetGenerated_tokens(),
		Compute:         time.Duration(r.GetCompute_us()) * time.Microsecond,
		Memory:          r.GetMemory(),
		PeakMemory:      r.GetPeak_memory(),
	}, nil
}
