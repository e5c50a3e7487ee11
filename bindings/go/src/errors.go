package runcible

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"runcible/internal/native"
)

// Status is what the library answers. Each is an error to compare with:
//
//	if errors.Is(err, runcible.ErrBusy) { ...
//
// Those that Go has an error for are that one too: ErrNotFound is
// fs.ErrNotExist, ErrInvalidArgument fs.ErrInvalid, ErrClosed fs.ErrClosed,
// ErrCancelled context.Canceled, ErrDeadline context.DeadlineExceeded and
// os.ErrDeadlineExceeded, ErrTimeout os.ErrDeadlineExceeded, and an Error with
// ErrIO the syscall.Errno that the system gave, such as syscall.ENOSPC or
// fs.ErrPermission.
type Status int32

// statuses are what each is called, and the errors of Go that mean the same.
var statuses = map[Status]struct {
	text string
	same []error
}{
	ErrInvalidArgument:    {"invalid argument", []error{fs.ErrInvalid, syscall.EINVAL}},
	ErrOutOfMemory:        {"out of memory", []error{syscall.ENOMEM}},
	ErrNotFound:           {"not found", []error{fs.ErrNotExist, syscall.ENOENT}},
	ErrIO:                 {"input or output failed", nil},
	ErrFormat:             {"malformed", nil},
	ErrUnsupported:        {"unsupported", []error{syscall.ENOTSUP}},
	ErrBackendUnavailable: {"no backend is available", nil},
	ErrDevice:             {"the device failed", nil},
	ErrDeviceLost:         {"the device is lost", nil},
	ErrDeviceMemory:       {"out of device memory", nil},
	ErrTimeout:            {"timed out", []error{os.ErrDeadlineExceeded}},
	ErrCancelled:          {"cancelled", []error{context.Canceled}},
	ErrDeadline:           {"the deadline passed", []error{context.DeadlineExceeded, os.ErrDeadlineExceeded}},
	ErrContextFull:        {"the context is full", nil},
	ErrBusy:               {"busy", []error{syscall.EBUSY}},
	ErrQuota:              {"a limit is reached", nil},
	ErrClosed:             {"closed", []error{fs.ErrClosed}},
	ErrABI:                {"the library does not fit", nil},
	ErrInternal:           {"a defect of the library", nil},
}

// Error is what the status is called.
func (s Status) Error() string {
	if known, ok := statuses[s]; ok {
		return known.text
	}
	return "unknown status"
}

// Is tells whether an error of Go means the same.
func (s Status) Is(target error) bool {
	for _, same := range statuses[s].same {
		if target == same {
			return true
		}
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

// Is tells whether the system's error is the target, or means the same.
func (e *Error) Is(target error) bool {
	number, ok := e.system()
	return ok && errors.Is(number, target)
}

// As gives the system's error as a syscall.Errno.
func (e *Error) As(target any) bool {
	to, wanted := target.(*syscall.Errno)
	if !wanted {
		return false
	}
	number, ok := e.system()
	if ok {
		*to = number
	}
	return ok
}

// system is the error of the system whose words end the message of an ErrIO.
func (e *Error) system() (syscall.Errno, bool) {
	if e.Status != ErrIO {
		return 0, false
	}
	const most = 256 // beyond all numbers of errors
	words := e.Message[strings.LastIndex(e.Message, ": ")+1:]
	for number := syscall.Errno(1); number < most; number++ {
		if strings.EqualFold(strings.TrimSpace(words), number.Error()) {
			return number, true
		}
	}
	return 0, false
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
