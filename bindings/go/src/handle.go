package runcible

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"runcible/internal/native"
)

// handle owns one reference to an object of the library until it is closed or
// collected. The object stays alive while a call uses it.
type handle[P any] struct {
	name   string
	proxy  P
	free   func(P)
	closed atomic.Bool
	uses   atomic.Int64 // calls in progress, plus one until it is closed
}

func newHandle[P any](name string, proxy P, free func(P)) *handle[P] {
	h := &handle[P]{name: name, proxy: proxy, free: free}
	h.uses.Store(1)
	runtime.SetFinalizer(h, (*handle[P]).close)
	return h
}

// use returns the object for a call, which ends with done.
func (h *handle[P]) use() (proxy P, err error) {
	if h == nil {
		return proxy, newError(ErrClosed, "a handle is nil, or was not made by this package")
	}
	for !h.closed.Load() {
		uses := h.uses.Load()
		if uses == 0 {
			break
		}
		if h.uses.CompareAndSwap(uses, uses+1) {
			return h.proxy, nil
		}
	}
	return proxy, newError(ErrClosed, fmt.Sprintf("this %s is closed", h.name))
}

func (h *handle[P]) done() {
	if h.uses.Add(-1) == 0 {
		h.free(h.proxy)
	}
}

// close releases the object, at the latest when the calls in progress are done.
func (h *handle[P]) close() {
	if h != nil && h.closed.CompareAndSwap(false, true) {
		runtime.SetFinalizer(h, nil)
		h.done()
	}
}

// made checks an options object that SWIG made.
func made(options interface{ Swigcptr() uintptr }) error {
	if options.Swigcptr() == 0 {
		return newError(ErrOutOfMemory, "no memory to keep the options in")
	}
	return nil
}

// makeName returns a text for C; `what` names it in an error.
func makeName(what, text string) (native.Name, error) {
	name, ok := native.MakeName(text)
	if !ok {
		return "", newError(ErrInvalidArgument,
			fmt.Sprintf("%s holds a zero byte: %q", what, text))
	}
	return name, nil
}

// setText passes a text to a function of C; it does nothing for "".
func setText(what, text string, set func(native.Name) error) error {
	if text == "" {
		return nil
	}
	name, err := makeName(what, text)
	if err != nil {
		return err
	}
	return set(name)
}

func flag(on bool) int32 {
	if on {
		return 1
	}
	return 0
}
