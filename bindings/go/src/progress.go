package runcible

import (
	"context"
	"runtime/cgo"

	"runcible/internal/native"
)

// progressReporter reports the progress of an opening, a switch or a load to the
// caller's function, and cancels if that fails or the context is done.
type progressReporter struct {
	ctx      context.Context
	report   func(float64) error
	err      error // why it was cancelled
	panicked any   // the value of a panic of the caller's function, which must not reach C
}

// function returns the handle by which C calls update. The caller deletes it.
func (r *progressReporter) function() cgo.Handle {
	return cgo.NewHandle(native.Progress(r.update))
}

func (r *progressReporter) goesOn() bool {
	return r.err == nil && r.panicked == nil
}

func (r *progressReporter) update(fraction float64) (goOn bool) {
	defer func() {
		if thrown := recover(); thrown != nil {
			r.panicked = thrown
			goOn = false
		}
	}()
	if r.goesOn() && r.report != nil {
		r.err = r.report(fraction)
	}
	if r.goesOn() {
		r.err = contextError(r.ctx)
	}
	return r.goesOn()
}
