package runcible

import (
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
