package runcible

import (
	"sync"

	"runcible/internal/native"
)

// Session is the state of one conversation.
//
//runcible:doc session.h
type Session struct {
	handle *handle[native.Session]
	// Decodes and requests may write the logits' memory: both wait while it is
	// copied, and no request waits for a decode. decoding is locked first.
	decoding, reading sync.Mutex
}

// newSession makes a session with a function of the library.
func newSession(options *SessionOptions, make func(native.Session_options, *uintptr) error) (*Session, error) {
	o, err := options.native()
	if err != nil {
		return nil, err
	}
	defer native.DeleteSession_options(o)
	var pointer uintptr
	if err := make(o, &pointer); err != nil {
		return nil, err
	}
	return ownSession(pointer), nil
}

func ownSession(pointer uintptr) *Session {
	return &Session{handle: newHandle[native.Session]("Session",
		native.SwigcptrSession(pointer), native.DeleteSession)}
}

// NewSession makes an empty session.
//
//runcible:doc rc_session_create
func (m *Model) NewSession(options SessionOptions) (*Session, error) {
	model, err := m.use()
	if err != nil {
		return nil, err
	}
	defer m.handle.done()
	return newSession(&options, func(o native.Session_options, pointer *uintptr) error {
		return native.Session_create(model, o, pointer)
	})
}

// RestoreSession makes a session from a file that Save wrote.
//
//runcible:doc rc_session_restore
func (m *Model) RestoreSession(path string, options SessionOptions) (*Session, error) {
	name, err := makeName("the path", path)
	if err != nil {
		return nil, err
	}
	model, err := m.use()
	if err != nil {
		return nil, err
	}
	defer m.handle.done()
	return newSession(&options, func(o native.Session_options, pointer *uintptr) error {
		return native.Session_restore(model, name, o, pointer)
	})
}

// RestoreSessionBytes makes a session from the bytes that SaveBytes returned.
func (m *Model) RestoreSessionBytes(saved []byte, options SessionOptions) (*Session, error) {
	model, err := m.use()
	if err != nil {
		return nil, err
	}
	defer m.handle.done()
	return newSession(&options, func(o native.Session_options, pointer *uintptr) error {
		return native.Session_restore_memory(model, saved, o, pointer)
	})
}

// Append adds tokens.
//
//runcible:doc rc_session_append
func (s *Session) Append(tokens []int32) error {
	return s.with(func(session native.Session) error {
		return native.Session_append(session, tokens)
	})
}

// AppendText adds text.
//
//runcible:doc rc_session_append_text
func (s *Session) AppendText(text string, flags TokenizeFlags) error {
	return s.with(func(session native.Session) error {
		return native.Session_append_text(session, text, uint32(flags))
	})
}

// Decode evaluates tokens.
//
//runcible:doc rc_session_decode
func (s *Session) Decode() error {
	return s.decode(0)
}

// DecodeAll is Decode, and keeps the logits of every token.
//
//runcible:doc RC_DECODE_ALL_LOGITS
func (s *Session) DecodeAll() error {
	return s.decode(uint32(native.DECODE_ALL_LOGITS))
}

func (s *Session) decode(flags uint32) error {
	return s.with(func(session native.Session) error {
		s.decoding.Lock()
		defer s.decoding.Unlock()
		return native.Session_decode(session, flags)
	})
}

// Logits returns a copy of the logits of the last decode: one row for the last
// token, or one for each token evaluated by DecodeAll. ErrNotFound: there was no
// decode since the last change.
func (s *Session) Logits() (rows [][]float32, err error) {
	err = s.with(func(session native.Session) error {
		s.decoding.Lock()
		defer s.decoding.Unlock()
		s.reading.Lock()
		defer s.reading.Unlock()
		var floats native.Floats
		if err := native.Session_logits(session, &floats); err != nil {
			return err
		}
		rows = floats.Rows()
		return nil
	})
	return rows, err
}
