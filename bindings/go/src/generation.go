package runcible

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"runcible/internal/native"
)

// Piece is a piece of text that is final. All pieces in order are the whole text.
type Piece struct {
	Text string
	// The tokens generated since the last piece.
	Tokens []int32
	// With the option Logprobs: one for each token, and the most probable tokens at
	// its position, most probable first.
	Logprobs    []Logprob
	TopLogprobs [][]Logprob
}

// Logprob is a token and the natural logarithm of its probability.
type Logprob struct {
	Token   int32
	Logprob float32
}

func pieceOf(event *native.Event) Piece {
	piece := Piece{Text: event.Text, Tokens: event.Tokens}
	if event.Logprobs == nil {
		return piece
	}
	piece.Logprobs = logprobsOf(event.Tokens, event.Logprobs)
	top := logprobsOf(event.TopTokens, event.TopLogprobs)
	for range event.Tokens {
		piece.TopLogprobs = append(piece.TopLogprobs, top[:event.TopCount:event.TopCount])
		top = top[event.TopCount:]
	}
	return piece
}

func logprobsOf(tokens []int32, given []float32) []Logprob {
	made := make([]Logprob, len(given))
	for i := range given {
		made[i] = Logprob{tokens[i], given[i]}
	}
	return made
}

// String returns "stop", "length", ...
func (r EndReason) String() string {
	return native.End_reason_name(int32(r))
}

// Generation is a text that is being generated. Its pieces are read with Next,
// Pieces, All or Text, and each piece goes to one reader. It goes on if no
// goroutine reads it. It ends by itself, by its context, or by Close; the
// collector cancels a generation that is no longer referenced.
type Generation struct {
	reading[Piece]
}

// Generate starts generating after a prompt. Without a prompt and without the
// option PromptTokens, generation continues the session as it is. Generate
// returns at once. It returns ErrInvalidArgument for an option out of range, by
// name and value, and ErrUnsupported for text if the model has no tokenizer. A
// prompt that is too long ends the generation with ErrContextFull.
//
// If the context is cancelled, the generation ends with ErrCancelled; at the
// context's deadline it ends with ErrDeadline.
func (s *Session) Generate(ctx context.Context, prompt string, options ...GenerateOption) (*Generation, error) {
	if err := contextError(ctx); err != nil {
		return nil, err
	}
	o, timed, err := generateOptions(ctx, options)
	if err != nil {
		return nil, err
	}
	defer native.DeleteGenerate_options(o)
	if prompt != "" {
		if err := o.Set_prompt(prompt); err != nil {
			return nil, err
		}
	}
	g := &Generation{}
	err = s.with(func(session native.Session) error {
		s.reading.Lock()
		defer s.reading.Unlock()
		return g.start(ctx, timed, pieceOf, func(box native.Mailbox, key uint64, request *uintptr) error {
			return native.Mailbox_generate(box, session, o, key, request)
		})
	})
	if err != nil {
		return nil, err
	}
	return g, nil
}

// generateOptions returns the options for the library, which the caller deletes,
// and whether the context has a deadline.
func generateOptions(ctx context.Context, options []GenerateOption) (o native.Generate_options, timed bool, err error) {
	o = native.NewGenerate_options()
	if err := made(o); err != nil {
		return nil, false, err
	}
	for _, option := range options {
		if err := option(o); err != nil {
			native.DeleteGenerate_options(o)
			return nil, false, err
		}
	}
	deadline, timed := ctx.Deadline()
	if timed {
		left := milliseconds(time.Until(deadline))
		if left < 1 {
			left = 1
		}
		o.SetDeadline_ms(left)
	}
	return o, timed, nil
}

// contextError returns the error of a context that is done or whose deadline has
// passed: the library may notice the deadline before the context's own timer
// does.
func contextError(ctx context.Context) error {
	err := ctx.Err()
	if deadline, timed := ctx.Deadline(); err == nil && timed && !time.Now().Before(deadline) {
		err = context.DeadlineExceeded
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return newError(ErrDeadline, err.Error())
	default:
		return newError(ErrCancelled, err.Error())
	}
}

// Pieces returns a channel of the pieces, which is closed at the end; Err then
// reports how the generation ended. Read the channel to its end, cancel the
// context, or close the generation: a goroutine feeds the channel until then.
func (g *Generation) Pieces() <-chan Piece {
	return g.channel()
}

// Text waits for the end and returns all text that was not yet read, also if
// there is an error.
func (g *Generation) Text() (string, error) {
	var text strings.Builder
	for {
		piece, err := g.Next()
		if err == io.EOF {
			return text.String(), nil
		}
		if err != nil {
			return text.String(), err
		}
		text.WriteString(piece.Text)
	}
}
