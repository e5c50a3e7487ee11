package runcible

import (
	"context"
	"errors"
	"io"
	"runtime"
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
	queue   *queue
	request *handle[native.Request]
	ctx     context.Context
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
	o := native.NewGenerate_options()
	if err := made(o); err != nil {
		return nil, err
	}
	defer native.DeleteGenerate_options(o)
	if prompt != "" {
		if err := o.Set_prompt(prompt); err != nil {
			return nil, err
		}
	}
	for _, option := range options {
		if err := option(o); err != nil {
			return nil, err
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
	g := &Generation{queue: newQueue(), ctx: ctx}
	err := s.with(func(session native.Session) error {
		s.reading.Lock()
		defer s.reading.Unlock()
		request, err := theMailbox.start(session, o, g.queue)
		if err != nil {
			return err
		}
		g.request = newHandle("Generation", request, native.DeleteRequest)
		return nil
	})
	if err != nil {
		return nil, err
	}
	runtime.SetFinalizer(g, (*Generation).lose)
	if ctx.Done() != nil {
		go watch(ctx, timed, g.queue, g.request)
	}
	return g, nil
}

// watch cancels the request when the context is done. A deadline is the
// library's to keep, if it was told.
func watch(ctx context.Context, timed bool, q *queue, request *handle[native.Request]) {
	select {
	case <-q.ended:
	case <-ctx.Done():
		if !timed || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			cancel(request)
		}
	}
}

// cancel does nothing if the request was closed, which has ended then.
func cancel(request *handle[native.Request]) {
	if proxy, err := request.use(); err == nil {
		_ = native.Request_cancel(proxy) // an error would say that it is none
		request.done()
	}
}

// contextError is that of a context that is done.
func contextError(ctx context.Context) error {
	err := ctx.Err()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return newError(ErrDeadline, err.Error())
	default:
		return newError(ErrCancelled, err.Error())
	}
}

// Next waits for the next piece. After the last one it returns io.EOF, or the
// error that the generation ended with: ErrCancelled, ErrDeadline, ...
func (g *Generation) Next() (Piece, error) {
	piece, err := g.queue.next()
	runtime.KeepAlive(g)
	return piece, err
}

// Pieces gives the pieces by a channel, which is closed at the end; Err tells
// then how it ended. Read it to the end, cancel the context, or close the
// generation: a goroutine feeds the channel until then.
func (g *Generation) Pieces() <-chan Piece {
	pieces := make(chan Piece)
	go func() {
		defer close(pieces)
		for {
			piece, err := g.Next()
			if err != nil {
				return
			}
			select {
			case pieces <- piece:
			case <-g.ctx.Done():
				g.queue.drain()
			case <-g.queue.dropped:
			}
		}
	}()
	return pieces
}

// All gives the pieces to a function, until it returns false, which closes the
// generation. An error comes last. As a range expression, from Go 1.23 on:
//
//	for piece, err := range generation.All {
func (g *Generation) All(yield func(Piece, error) bool) {
	defer g.Close()
	for {
		piece, err := g.Next()
		if err == io.EOF {
			return
		}
		if !yield(piece, err) || err != nil {
			return
		}
	}
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

// Err waits for the end, and tells the error of it, nil for success.
func (g *Generation) Err() error {
	<-g.queue.ended
	return g.queue.err
}

// Report waits for the end, and tells about it; nil if the library could not.
func (g *Generation) Report() *Report {
	<-g.queue.ended
	return g.queue.report
}

// Done is closed at the end, when pieces may still be unread.
func (g *Generation) Done() <-chan struct{} {
	return g.queue.ended
}

// Cancel asks the generation to end, with ErrCancelled. It does not wait.
func (g *Generation) Cancel() {
	cancel(g.request)
}

// Close cancels the generation and waits for its end, so that the session can
// be used again; pieces not yet read are dropped.
func (g *Generation) Close() error {
	g.lose()
	<-g.queue.ended
	g.request.close()
	return nil
}

// lose is what the collector does: it cannot wait.
func (g *Generation) lose() {
	runtime.SetFinalizer(g, nil)
	g.queue.drop()
	cancel(g.request)
}
