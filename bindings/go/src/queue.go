package runcible

import (
	"io"
	"sync"

	"runcible/internal/native"
)

// queue has what came of one generation and was not yet read. The mailbox knows
// it for as long as the generation goes on, whoever else has forgotten it.
type queue struct {
	mutex   sync.Mutex
	changed sync.Cond
	pieces  []Piece
	dropped chan struct{} // closed when nobody wants to read any more
	ended   chan struct{} // closed at the end
	report  *Report       // of the end
	err     error         // of the end; nil: success
}

func newQueue() *queue {
	q := &queue{dropped: make(chan struct{}), ended: make(chan struct{})}
	q.changed.L = &q.mutex
	return q
}

func (q *queue) add(piece Piece) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if !isClosed(q.dropped) {
		q.pieces = append(q.pieces, piece)
		q.changed.Signal()
	}
}

func (q *queue) finish(event *native.Event) {
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

// fail ends the queue without a word of the request.
func (q *queue) fail(err error) {
	q.end(nil, err)
}

func (q *queue) end(report *Report, err error) {
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

// next waits for a piece; io.EOF at the end of a success.
func (q *queue) next() (Piece, error) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for len(q.pieces) == 0 && !isClosed(q.ended) {
		q.changed.Wait()
	}
	if len(q.pieces) > 0 {
		piece := q.pieces[0]
		q.pieces[0] = Piece{}
		q.pieces = q.pieces[1:]
		return piece, nil
	}
	if q.err != nil && !isClosed(q.dropped) {
		return Piece{}, q.err
	}
	return Piece{}, io.EOF
}

// drain forgets the pieces that wait.
func (q *queue) drain() {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.pieces = nil
}

// drop forgets the pieces, those to come too.
func (q *queue) drop() {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if !isClosed(q.dropped) {
		close(q.dropped)
	}
	q.pieces = nil
}
