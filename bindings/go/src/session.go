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
	// The logits are memory that decodes and requests may write: both wait while
	// it is copied, and no request waits for a decode. decoding is taken first.
	decoding, reading sync.Mutex
}

// newSession makes a session by a function of the library.
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

// RestoreSessionBytes makes a session from what SaveBytes returned.
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

// Close gives the session back; generations go on to their ends.
func (s *Session) Close() error {
	s.handle.close()
	return nil
}

// with calls a function with the session.
func (s *Session) with(call func(native.Session) error) error {
	session, err := s.handle.use()
	if err != nil {
		return err
	}
	defer s.handle.done()
	return call(session)
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

// DecodeAll is Decode that keeps the logits of every token.
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

// Logits are a copy of the logits of the last decode: one row for the last
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

// Position is the number of tokens.
func (s *Session) Position() (position int64, err error) {
	err = s.with(func(session native.Session) error {
		return native.Session_position(session, &position)
	})
	return position, err
}

// Tokens are a copy of the tokens.
func (s *Session) Tokens() (tokens []int32, err error) {
	err = s.with(func(session native.Session) error {
		var memory native.Memory
		if err := native.Session_tokens(session, &memory); err != nil {
			return err
		}
		tokens = memory.TakeTokens()
		return nil
	})
	return tokens, err
}

// Truncate forgets tokens.
//
//runcible:doc rc_session_truncate
func (s *Session) Truncate(position int64) error {
	return s.with(func(session native.Session) error {
		return native.Session_truncate(session, position)
	})
}

// Fork makes a second session.
//
//runcible:doc rc_session_fork
func (s *Session) Fork() (fork *Session, err error) {
	err = s.with(func(session native.Session) error {
		var pointer uintptr
		if err := native.Session_fork(session, &pointer); err != nil {
			return err
		}
		fork = ownSession(pointer)
		return nil
	})
	return fork, err
}

// Save writes the session to a file.
//
//runcible:doc rc_session_save
func (s *Session) Save(path string) error {
	name, err := makeName("the path", path)
	if err != nil {
		return err
	}
	return s.with(func(session native.Session) error {
		return native.Session_save(session, name)
	})
}

// SaveBytes is Save to memory.
func (s *Session) SaveBytes() (saved []byte, err error) {
	err = s.with(func(session native.Session) error {
		var memory native.Memory
		if err := native.Session_save_memory(session, &memory); err != nil {
			return err
		}
		saved = memory.TakeBytes()
		return nil
	})
	return saved, err
}

// Migrate makes the same session on another model.
//
//runcible:doc rc_session_migrate
func (s *Session) Migrate(to *Model) (migrated *Session, err error) {
	model, err := to.use()
	if err != nil {
		return nil, err
	}
	defer to.handle.done()
	err = s.with(func(session native.Session) error {
		var pointer uintptr
		if err := native.Session_migrate(session, model, &pointer); err != nil {
			return err
		}
		migrated = ownSession(pointer)
		return nil
	})
	return migrated, err
}
