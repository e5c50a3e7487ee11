package runcible

import (
	"sync"

	"runcible/internal/native"
)

// mailbox is where all requests of the process post their events. While there
// are any, one goroutine waits for them, in a call of C, and hands them out.
type mailbox struct {
	mutex   sync.Mutex
	box     native.Mailbox // made by the first request
	queues  map[uint64]*queue
	lastKey uint64
}

var theMailbox = mailbox{queues: map[uint64]*queue{}}

// start starts a request whose events come to `to`.
func (m *mailbox) start(session native.Session, options native.Generate_options, to *queue) (native.Request, error) {
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
	err := native.Mailbox_generate(m.box, session, options, m.lastKey, &pointer)
	if err != nil {
		return nil, err
	}
	m.queues[m.lastKey] = to
	if len(m.queues) == 1 {
		go m.serve()
	}
	return native.SwigcptrRequest(pointer), nil
}

// serve hands out events until no request is left.
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
			// Events are lost, so that no generation is whole any more.
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
		to.add(pieceOf(event))
	}
}
