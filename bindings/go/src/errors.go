package runcible

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"runcible/internal/native"
)

// Status is the result of a call of the library. Each is an error to compare
// with:
//
//	if errors.Is(err, runcible.ErrBusy) { ...
//
// A status that has a counterpart in Go also matches that error: ErrNotFound
// matches fs.ErrNotExist, ErrInvalidArgument fs.ErrInvalid, ErrClosed
// fs.ErrClosed, ErrCancelled context.Canceled, ErrDeadline
// context.DeadlineExceeded and os.ErrDeadlineExceeded, ErrTimeout
// os.ErrDeadlineExceeded. An Error with ErrIO matches the syscall.Errno that the
// system returned, such as syscall.ENOSPC, and errors such as fs.ErrPermission.
type Status int32

// statuses has the text of each status, and the errors of Go that mean the same.
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

// Error returns the text of the status.
func (s Status) Error() string {
	if known, ok := statuses[s]; ok {
		return known.text
	}
	return "unknown status"
}

// Is reports whether an error of Go means the same.
func (s Status) Is(target error) bool {
	for _, same := range statuses[s].same {
		if target == same {
			return true
		}
	}
	return false
}

// Error is the type of all errors of this package.
type Error struct {
	Status Status
	// Names the values concerned.
	Message string
	// The work done before a generation failed; nil for other calls.
	Report *Report
	// The time after which to try again; nil if it is not known.
	RetryAfter *time.Duration
}

func (e *Error) Error() string {
	if e.Message == "" {
		return "runcible: " + e.Status.Error()
	}
	return "runcible: " + e.Message
}

// Unwrap returns the status, for errors.Is.
func (e *Error) Unwrap() error {
	return e.Status
}

// Is reports whether the system's error is the target, or means the same.
func (e *Error) Is(target error) bool {
	number, ok := e.system()
	return ok && errors.Is(number, target)
}

// As stores the system's error in a target that is a *syscall.Errno.
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

// system returns the system's error whose text ends the message of an ErrIO.
func (e *Error) system() (syscall.Errno, bool) {
	if e.Status != ErrIO {
		return 0, false
	}
	const most = 256 // above all error numbers
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

// abiError is the error of every call if the loaded library does not fit; else
// nil.
var abiError error

func init() {
	native.NewError = func(status int32, message string, retryAfter int64) error {
		made := newError(Status(status), message)
		if retryAfter >= 0 {
			wait := time.Duration(retryAfter) * time.Millisecond
			made.RetryAfter = &wait
		}
		return made
	}
	abiError = native.Abi_check(uint32(native.VERSION_MAJOR), uint32(native.VERSION_MINOR))
}

// Version returns the version of the library that is running, "1.2.3".
func Version() string {
	return native.Version_string()
}
