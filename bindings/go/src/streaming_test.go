package runcible_test

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"runcible"
)

var background = context.Background()

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var shared struct {
	once  sync.Once
	model *runcible.Model
	err   error
}

// theModel returns a model that is loaded once for all tests.
func theModel(t *testing.T) *runcible.Model {
	t.Helper()
	shared.once.Do(func() { shared.model, shared.err = loadFable() })
	check(t, shared.err)
	return shared.model
}

func loadFable() (*runcible.Model, error) {
	backend, err := runcible.OpenBackend("cpu", runcible.BackendOptions{})
	if err != nil {
		return nil, err
	}
	return runcible.LoadModel(background, "builtin:fable", backend, runcible.ModelOptions{})
}

func sessionOf(t *testing.T, model *runcible.Model) *runcible.Session {
	t.Helper()
	session, err := model.NewSession(runcible.SessionOptions{WhenFull: runcible.FullShifts})
	check(t, err)
	return session
}

// endless starts a generation that does not end by itself.
func endless(t *testing.T, ctx context.Context, session *runcible.Session) *runcible.Generation {
	t.Helper()
	generation, err := session.Generate(ctx, "A", runcible.IgnoreEOS())
	check(t, err)
	return generation
}

func TestNextEndsWithEOF(t *testing.T) {
	generation, err := sessionOf(t, theModel(t)).Generate(background, "A", runcible.MaxTokens(3),
		runcible.IgnoreEOS(), runcible.Logprobs(2))
	check(t, err)
	count := 0
	for {
		piece, err := generation.Next()
		if err == io.EOF {
			break
		}
		check(t, err)
		count += len(piece.Tokens)
		if len(piece.Logprobs) != len(piece.Tokens) || len(piece.TopLogprobs) != len(piece.Tokens) {
			t.Fatalf("%+v", piece)
		}
		for i, top := range piece.TopLogprobs {
			if piece.Logprobs[i].Token != piece.Tokens[i] || len(top) != 2 ||
				top[0].Logprob < top[1].Logprob || top[0].Logprob > 0 {
				t.Errorf("%+v", piece)
			}
		}
	}
	report := generation.Report()
	if count != 3 || report.GeneratedTokens != 3 || report.Reason != runcible.EndLength ||
		report.Reason.String() != "length" {
		t.Errorf("%d tokens, %+v", count, report)
	}
	check(t, generation.Err())
	if _, err := generation.Next(); err != io.EOF {
		t.Errorf("after the end: %v", err)
	}
}

func TestLeavingAllClosesTheGeneration(t *testing.T) {
	session := sessionOf(t, theModel(t))
	generation := endless(t, background, session)
	pieces := 0
	generation.All(func(piece runcible.Piece, err error) bool {
		check(t, err)
		pieces++
		return pieces < 3
	})
	if pieces != 3 || generation.Report().Reason != runcible.EndCancelled {
		t.Errorf("%d pieces, %+v", pieces, generation.Report())
	}
	check(t, session.Append([]int32{5})) // no longer busy
}

func TestPanicInAllClosesTheGeneration(t *testing.T) {
	session := sessionOf(t, theModel(t))
	generation := endless(t, background, session)
	func() {
		defer func() {
			if recover() != "mine" {
				t.Error("there was another panic, or none")
			}
		}()
		generation.All(func(runcible.Piece, error) bool { panic("mine") })
	}()
	check(t, session.Append([]int32{5}))
}

func TestCancellingTheContextEndsTheGeneration(t *testing.T) {
	session := sessionOf(t, theModel(t))
	ctx, cancel := context.WithCancel(background)
	generation := endless(t, ctx, session)
	_, err := generation.Next()
	check(t, err)
	cancel()
	_, err = generation.Text()
	if !errors.Is(err, runcible.ErrCancelled) || !errors.Is(err, context.Canceled) ||
		errors.Is(err, runcible.ErrDeadline) {
		t.Errorf("ended with %v", err)
	}
	check(t, session.Append([]int32{5}))
	if _, err := session.Generate(ctx, "A"); !errors.Is(err, context.Canceled) {
		t.Errorf("began with %v", err)
	}
}

func TestContextDeadlineEndsTheGeneration(t *testing.T) {
	session := sessionOf(t, theModel(t))
	ctx, cancel := context.WithTimeout(background, 50*time.Millisecond)
	defer cancel()
	_, err := endless(t, ctx, session).Text()
	var failed *runcible.Error
	if !errors.Is(err, runcible.ErrDeadline) || !errors.Is(err, context.DeadlineExceeded) ||
		!errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &failed) {
		t.Fatalf("ended with %v", err)
	}
	if failed.Report.Reason != runcible.EndDeadline {
		t.Errorf("the report is %+v", failed.Report)
	}
	<-ctx.Done() // which has a separate clock
	if _, err := session.Generate(ctx, "A"); !errors.Is(err, runcible.ErrDeadline) {
		t.Errorf("began with %v", err)
	}
}

func TestCancellingBeforeTheDeadline(t *testing.T) {
	ctx, cancel := context.WithTimeout(background, time.Hour)
	generation := endless(t, ctx, sessionOf(t, theModel(t)))
	cancel()
	if err := generation.Err(); !errors.Is(err, runcible.ErrCancelled) {
		t.Errorf("ended with %v", err)
	}
}

func TestCancelFromAnotherGoroutine(t *testing.T) {
	generation := endless(t, background, sessionOf(t, theModel(t)))
	_, err := generation.Next()
	check(t, err)
	go generation.Cancel()
	if _, err := generation.Text(); !errors.Is(err, runcible.ErrCancelled) {
		t.Errorf("ended with %v", err)
	}
}

func TestGoroutinesShareAGeneration(t *testing.T) {
	generation, err := sessionOf(t, theModel(t)).Generate(background, "A",
		runcible.IgnoreEOS(), runcible.MaxTokens(200))
	check(t, err)
	counts := make(chan int)
	for i := 0; i < 4; i++ {
		go func() {
			count := 0
			for {
				piece, err := generation.Next()
				if err != nil {
					counts <- count
					return
				}
				count += len(piece.Tokens)
			}
		}()
	}
	total := 0
	for i := 0; i < 4; i++ {
		total += <-counts
	}
	if total != 200 {
		t.Errorf("%d tokens", total)
	}
}

// goroutines waits until there are at most `most`.
func goroutines(t *testing.T, most int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > most; {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, not %d:\n%s", runtime.NumGoroutine(), most,
				stacks[:runtime.Stack(stacks, true)])
		}
		time.Sleep(time.Millisecond)
	}
}

func TestNoGoroutineRemainsAfterTheEnd(t *testing.T) {
	model := theModel(t)
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(background)
	defer cancel()

	unread := endless(t, ctx, sessionOf(t, model))
	<-unread.Pieces() // the rest is never read
	check(t, unread.Close())

	left := endless(t, ctx, sessionOf(t, model))
	<-left.Pieces()
	cancel()
	if !errors.Is(left.Err(), runcible.ErrCancelled) {
		t.Error(left.Err())
	}
	goroutines(t, before)
}

func TestCollectorCancelsALostGeneration(t *testing.T) {
	session := sessionOf(t, theModel(t))
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	func() {
		_, err := endless(t, ctx, session).Next()
		check(t, err)
	}()
	for end := time.Now().Add(time.Minute); ; {
		runtime.GC()
		err := session.Append([]int32{5})
		if err == nil {
			return
		}
		if !errors.Is(err, runcible.ErrBusy) || time.Now().After(end) {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
}
