package runcible

import (
	"io"
	"sync"

	"runcible/internal/native"
)

// queue holds the parts of one request that were not yet read. The mailbox keeps
// it until the request has ended, even if nothing else refers to it.
type queue[T any] struct {
	partOf  func(*native.Event) T
	mutex   sync.Mutex
	changed sync.Cond
	parts   []T
	dropped chan struct{} // closed when there is no reader any more
	ended   chan struct{} // closed at the end
	report  *Report       // of the end
	err     error         // of the end; nil: success
}

func newQueue[T any](partOf func(*native.Event) T) *queue[T] {
	q := &queue[T]{partOf: partOf, dropped: make(chan struct{}), ended: make(chan struct{})}
	q.changed.L = &q.mutex
	return q
}

func (q *queue[T]) take(event *native.Event) {
	part := q.partOf(event)
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if !isClosed(q.dropped) {
		q.parts = append(q.parts, part)
		q.changed.Signal()
	}
}

func (q *queue[T]) finish(event *native.Event) {
	report := reportOf(&event.Report)
	var err error
	if status := Status(event.Report.Status); status != 0 {
		message := event.Message
		if message == "" {
			message = "the generation ended: " + report.Reason.String()
		}
		err = &Error{Status: status, Message: message, Report: report}
	}
	q.end(report, err)
}

// fail ends the queue without an end event.
func (q *queue[T]) fail(err error) {
	q.end(nil, err)
}

func (q *queue[T]) end(report *Report, err error) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.report, q.err = report, err
	close(q.ended)
	q.changed.Broadcast()
}

func isClosed(channel <-chan struct{}) bool {
	select {
	case <-channel:
		return true
	default:
		return false
	}
}

// next waits for a part. It returns io.EOF after a generation that succeeded.
func (q *queue[T]) next() (part T, err error) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for len(q.parts) == 0 && !isClosed(q.ended) {
		q.changed.Wait()
	}
	if len(q.parts) > 0 {
		var none T
		part, q.parts[0] = q.parts[0], none
		q.parts = q.parts[1:]
		return part, nil
	}
	if q.err != nil && !isClosed(q.dropped) {
		return part, q.err
	}
	return part, io.EOF
}

// drain drops the parts that were not read.
func (q *queue[T]) drain() {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.parts = nil
}

// drop drops the parts that were not read, and all later ones.
func (q *queue[T]) drop() {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if !isClosed(q.dropped) {
		close(q.dropped)
	}
	q.parts = nil
}
