package runcible_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"runcible"
)

// must returns the result of a call that does not fail.
func must[T any](made T, err error) T {
	if err != nil {
		panic(err)
	}
	return made
}

func cpu(t *testing.T) *runcible.Backend {
	t.Helper()
	backend, err := runcible.OpenBackend("cpu", runcible.BackendOptions{})
	check(t, err)
	t.Cleanup(func() { backend.Close() })
	return backend
}

func TestGraphsRefuseInvalidArguments(t *testing.T) {
	backend := cpu(t)
	x := must(runcible.NewTensor(backend, []float32{1, 2}, 2))
	mine := errors.New("mine")
	if _, err := runcible.RecordGraph(backend, nil, func([]*runcible.Tensor) ([]*runcible.Tensor, error) {
		return nil, mine
	}); err != mine {
		t.Error(err)
	}
	graph, err := runcible.RecordGraph(backend, []*runcible.Tensor{x}, func(in []*runcible.Tensor) ([]*runcible.Tensor, error) {
		made, err := in[0].Neg()
		if _, err := made.Bytes(); !errors.Is(err, runcible.ErrInvalidArgument) {
			t.Error(err)
		}
		return []*runcible.Tensor{made}, err
	})
	check(t, err)
	if _, err := graph.Run(background, nil); !errors.Is(err, runcible.ErrInvalidArgument) {
		t.Error(err)
	}
}

func TestContextEndsARunOfAGraph(t *testing.T) {
	backend := cpu(t)
	x := must(runcible.RandomNormal(backend, 1, 0, 1, 1024, 1024))
	graph, err := runcible.RecordGraph(backend, []*runcible.Tensor{x}, func(in []*runcible.Tensor) ([]*runcible.Tensor, error) {
		y := in[0]
		for i := 0; i < 40; i++ {
			y = must(y.Matmul(y))
		}
		return []*runcible.Tensor{y}, nil
	})
	check(t, err)
	ctx, cancel := context.WithTimeout(background, 20*time.Millisecond)
	defer cancel()
	if _, err := graph.Run(ctx, x); !errors.Is(err, runcible.ErrDeadline) {
		t.Error(err)
	}
	ctx, cancel = context.WithCancel(background)
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := graph.Run(ctx, x); !errors.Is(err, runcible.ErrCancelled) {
		t.Error(err)
	}
	if _, err := runcible.OpenBackendContext(ctx, "cpu", runcible.BackendOptions{}); !errors.Is(err, runcible.ErrCancelled) {
		t.Error(err)
	}
}
