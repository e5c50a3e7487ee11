package runcible

import (
	"context"
	"io/fs"
	"os"

	"runcible/internal/native"
)

// Status is what the library answers. Each is an error to compare with:
//
//	if errors.Is(err, runcible.ErrBusy) { ...
//
// Some are the errors of Go too that mean the same: ErrNotFound is
// fs.ErrNotExist, ErrInvalidArgument fs.ErrInvalid, ErrClosed fs.ErrClosed,
// ErrCancelled context.Canceled, ErrDeadline context.DeadlineExceeded and
// os.ErrDeadlineExceeded, ErrTimeout os.ErrDeadlineExceeded.
type Status int32

const (
	//runcible:doc RC_E_INVALID_ARGUMENT
	ErrInvalidArgument Status = -1
	//runcible:doc RC_E_OUT_OF_MEMORY
	ErrOutOfMemory Status = -2
	//runcible:doc RC_E_NOT_FOUND
	ErrNotFound Status = -3
	//runcible:doc RC_E_IO
	ErrIO Status = -4
	//runcible:doc RC_E_FORMAT
	ErrFormat Status = -5
	//runcible:doc RC_E_UNSUPPORTED
	ErrUnsupported Status = -6
	//runcible:doc RC_E_BACKEND_UNAVAILABLE
	ErrBackendUnavailable Status = -7
	//runcible:doc RC_E_DEVICE
	ErrDevice Status = -8
	//runcible:doc RC_E_DEVICE_LOST
	ErrDeviceLost Status = -9
	//runcible:doc RC_E_DEVICE_MEMORY
	ErrDeviceMemory Status = -10
	//runcible:doc RC_E_TIMEOUT
	ErrTimeout Status = -11
	//runcible:doc RC_E_CANCELLED
	ErrCancelled Status = -12
	//runcible:doc RC_E_DEADLINE
	ErrDeadline Status = -13
	//runcible:doc RC_E_CONTEXT_FULL
	ErrContextFull Status = -14
	//runcible:doc RC_E_BUSY
	ErrBusy Status = -15
	//runcible:doc RC_E_QUOTA
	ErrQuota Status = -16
	//runcible:doc RC_E_CLOSED
	ErrClosed Status = -17
	//runcible:doc RC_E_ABI
	ErrABI Status = -18
	//runcible:doc RC_E_INTERNAL
	ErrInternal Status = -19
)

// Error is the name of the status, such as "RC_E_FORMAT".
func (s Status) Error() string {
	return native.Status_name(int32(s))
}

// Is tells whether an error of Go means the same.
func (s Status) Is(target error) bool {
	switch s {
	case ErrInvalidArgument:
		return target == fs.ErrInvalid
	case ErrNotFound:
		return target == fs.ErrNotExist
	case ErrTimeout:
		return target == os.ErrDeadlineExceeded
	case ErrCancelled:
		return target == context.Canceled
	case ErrDeadline:
		return target == context.DeadlineExceeded || target == os.ErrDeadlineExceeded
	case ErrClosed:
		return target == fs.ErrClosed
	}
	return false
}

// Error is every error of this package.
type Error struct {
	Status Status
	// Names the values concerned.
	Message string
	// What had been done when a generation failed; else nil.
	Report *Report
}

func (e *Error) Error() string {
	if e.Message == "" {
		return "runcible: " + e.Status.Error()
	}
	return "runcible: " + e.Message
}

// Unwrap gives the status, for errors.Is.
func (e *Error) Unwrap() error {
	return e.Status
}

func newError(status Status, message string) *Error {
	return &Error{Status: status, Message: message}
}

// abiError is why nothing can be done with the library that was loaded.
var abiError error

func init() {
	native.NewError = func(status int32, message string) error {
		return newError(Status(status), message)
	}
	abiError = native.Abi_check(uint32(native.VERSION_MAJOR), uint32(native.VERSION_MINOR))
}

// Version of the library that is running, "1.2.3".
func Version() string {
	return native.Version_string()
}
