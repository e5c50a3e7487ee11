package runcible

import (
	"sync"

	"runcible/internal/native"
)

// mailbox receives the events of all requests of the process. While there are
// requests, one goroutine waits for their events in a call of C, and distributes
// them.
type mailbox struct {
	mutex   sync.Mutex
	box     native.Mailbox // made by the first request
	queues  map[uint64]receiver
	lastKey uint64
}

// receiver receives the events of a request.
type receiver interface {
	take(event *native.Event)
	finish(event *native.Event)
	fail(err error)
}

var theMailbox = mailbox{queues: map[uint64]receiver{}}

// beginning starts a request with a key in a mailbox.
type beginning func(box native.Mailbox, key uint64, request *uintptr) error

// start starts a request whose events go to `to`.
func (m *mailbox) start(begin beginning, to receiver) (native.Request, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.box == nil {
		var pointer uintptr
		if err := native.Mailbox_create(&pointer); err != nil {
			return nil, err
		}
		m.box = native.SwigcptrMailbox(pointer)
	}
	m.lastKey++
	var pointer uintptr
	if err := begin(m.box, m.lastKey, &pointer); err != nil {
		return nil, err
	}
	m.queues[m.lastKey] = to
	if len(m.queues) == 1 {
		go m.serve()
	}
	return native.SwigcptrRequest(pointer), nil
}

// serve distributes events until no request is left.
func (m *mailbox) serve() {
	for {
		var found native.Events
		err := native.Mailbox_wait(m.box, -1)
		if err == nil {
			err = native.Mailbox_take(m.box, &found)
		}
		events := found.Take()
		m.mutex.Lock()
		for i := range events {
			m.post(&events[i])
		}
		if err != nil {
			// Events are lost, so no generation is complete any more.
			for key, to := range m.queues {
				to.fail(err)
				delete(m.queues, key)
			}
		}
		left := len(m.queues)
		m.mutex.Unlock()
		if left == 0 {
			return
		}
	}
}

func (m *mailbox) post(event *native.Event) {
	to := m.queues[event.Key]
	if to == nil {
		return // of a generation that failed
	}
	if event.End {
		delete(m.queues, event.Key)
		to.finish(event)
	} else {
		to.take(event)
	}
}
