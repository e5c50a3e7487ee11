package runcible

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"runcible/internal/native"
)

// Piece is text that became certain. All texts one after the other are the
// whole text.
type Piece struct {
	Text string
	// The tokens generated since the last piece.
	Tokens []int32
	// With the option Logprobs: of each token, and of the most probable ones in
	// the place of each, by falling probability.
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

// String is "stop", "length", ...
func (r EndReason) String() string {
	return native.End_reason_name(int32(r))
}

// Generation is a text that is being generated. Its pieces come from Next, from
// Pieces, from All, or from Text, each to one reader. It goes on while nobody
// reads. It ends by itself, by its context, or by Close; one that was lost is
// cancelled by the collector.
type Generation struct {
	reading[Piece]
}

// Generate starts generating behind a prompt; without one, and without the
// option PromptTokens, generation goes on from the session as it is. It returns
// at once. ErrInvalidArgument: an option out of range, by name and value;
// ErrUnsupported: text for a model without tokenizer. A prompt that is too long ends
// the generation with ErrContextFull.
//
// A context that is cancelled ends the generation with ErrCancelled, and the
// context's deadline with ErrDeadline.
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

// generateOptions are the library's own, which the caller deletes, and whether the
// context has a deadline.
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

// contextError is that of a context that is done, or whose deadline has passed:
// the library may notice that before the context's own timer does.
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

// Pieces gives the pieces by a channel, which is closed at the end; Err tells
// then how it ended. Read it to the end, cancel the context, or close the
// generation: a goroutine feeds the channel until then.
func (g *Generation) Pieces() <-chan Piece {
	return g.channel()
}

// Text waits for the end, and gives all the text that was not yet read, also
// beside an error.
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
