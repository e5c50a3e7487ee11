package runcible

import (
	"context"
	"runtime/cgo"

	"runcible/internal/native"
)

// telling is how the caller of an opening or a load is told.
type telling struct {
	ctx      context.Context
	tell     func(float64) error
	err      error // why it was cancelled
	panicked any   // what the caller's function threw, which C must not see
}

// function is what C knows it by, to be deleted.
func (t *telling) function() cgo.Handle {
	return cgo.NewHandle(native.Progress(t.progress))
}

func (t *telling) goesOn() bool {
	return t.err == nil && t.panicked == nil
}

func (t *telling) progress(fraction float64) (goOn bool) {
	defer func() {
		if thrown := recover(); thrown != nil {
			t.panicked = thrown
			goOn = false
		}
	}()
	if t.goesOn() && t.tell != nil {
		t.err = t.tell(fraction)
	}
	if t.goesOn() {
		t.err = contextError(t.ctx)
	}
	return t.goesOn()
}
