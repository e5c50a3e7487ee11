package runcible

import (
	"context"
	"errors"
	"io"
	"runtime"

	"runcible/internal/native"
)

// reading reads the parts of a request; see Generation and Answer.
type reading[T any] struct {
	queue   *queue[T]
	request *handle[native.Request]
	ctx     context.Context
}

// start begins the request.
func (r *reading[T]) start(ctx context.Context, timed bool, partOf func(*native.Event) T, begin beginning) error {
	r.ctx, r.queue = ctx, newQueue(partOf)
	request, err := theMailbox.start(begin, r.queue)
	if err != nil {
		return err
	}
	r.request = newHandle("Generation", request, native.DeleteRequest)
	runtime.SetFinalizer(r, (*reading[T]).lose)
	if ctx.Done() != nil {
		go watch(ctx, timed, r.queue.ended, r.request)
	}
	return nil
}

// watch cancels the request when the context is done. The library keeps the
// deadline, if it was passed one.
func watch(ctx context.Context, timed bool, ended <-chan struct{}, request *handle[native.Request]) {
	select {
	case <-ended:
	case <-ctx.Done():
		if !timed || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			cancel(request)
		}
	}
}

// cancel does nothing if the request was closed: it has ended then.
func cancel(request *handle[native.Request]) {
	if proxy, err := request.use(); err == nil {
		_ = native.Request_cancel(proxy) // it fails only for an invalid handle
		request.done()
	}
}

// Next waits for the next part. After the last one it returns io.EOF, or the
// error that ended the generation: ErrCancelled, ErrDeadline, ...
func (r *reading[T]) Next() (T, error) {
	part, err := r.queue.next()
	runtime.KeepAlive(r)
	return part, err
}

// channel returns a channel of the parts, which is closed at the end.
func (r *reading[T]) channel() <-chan T {
	parts := make(chan T)
	go func() {
		defer close(parts)
		for {
			part, err := r.Next()
			if err != nil {
				return
			}
			select {
			case parts <- part:
			case <-r.ctx.Done():
				r.queue.drain()
			case <-r.queue.dropped:
			}
		}
	}()
	return parts
}

// All passes the parts to a function until it returns false, which closes the
// generation. An error is passed last. As a range expression, from Go 1.23 on:
//
//	for part, err := range generation.All {
func (r *reading[T]) All(yield func(T, error) bool) {
	defer r.Close()
	for {
		part, err := r.Next()
		if err == io.EOF {
			return
		}
		if !yield(part, err) || err != nil {
			return
		}
	}
}

// Err waits for the end and returns its error, nil for success.
func (r *reading[T]) Err() error {
	<-r.queue.ended
	return r.queue.err
}

// Report waits for the end and returns the report; nil if the library could not
// make one.
func (r *reading[T]) Report() *Report {
	<-r.queue.ended
	return r.queue.report
}

// Done returns a channel that is closed at the end; parts may still be unread
// then.
func (r *reading[T]) Done() <-chan struct{} {
	return r.queue.ended
}

// Cancel asks the generation to end, with ErrCancelled. It does not wait.
func (r *reading[T]) Cancel() {
	cancel(r.request)
}

// Close cancels the generation and waits for its end, so that the session can
// be used again; parts not yet read are dropped.
func (r *reading[T]) Close() error {
	r.lose()
	<-r.queue.ended
	r.request.close()
	return nil
}

// lose is called by the collector, which cannot wait.
func (r *reading[T]) lose() {
	runtime.SetFinalizer(r, nil)
	r.queue.drop()
	cancel(r.request)
}
