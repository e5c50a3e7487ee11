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
	o, err := options.native()
	if err != nil {
		return nil, err
	}
	defer native.DeleteBackend_options(o)
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
