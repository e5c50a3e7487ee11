package runcible_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
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
	y := must(runcible.NewTensor(backend, []float32{1, 2, 3}, 3))
	neg := func(x []*runcible.Tensor) ([]*runcible.Tensor, error) {
		made, err := x[0].Neg()
		return []*runcible.Tensor{made}, err
	}
	_, err := runcible.RecordGraph(backend, []*runcible.Tensor{x}, func(in []*runcible.Tensor) ([]*runcible.Tensor, error) {
		made, err := in[0].Add(y)
		return []*runcible.Tensor{made}, err
	})
	if !errors.Is(err, runcible.ErrInvalidArgument) || !strings.Contains(err.Error(), "[3]") {
		t.Error(err)
	}
	mine := errors.New("mine")
	if _, err := runcible.RecordGraph(backend, nil, func([]*runcible.Tensor) ([]*runcible.Tensor, error) {
		return nil, mine
	}); err != mine {
		t.Error(err)
	}
	var kept *runcible.Tensor
	graph, err := runcible.RecordGraph(backend, []*runcible.Tensor{x}, func(in []*runcible.Tensor) ([]*runcible.Tensor, error) {
		made, err := neg(in)
		kept = made[0]
		if _, err := kept.Bytes(); !errors.Is(err, runcible.ErrInvalidArgument) {
			t.Error(err)
		}
		return made, err
	})
	check(t, err)
	if _, err := kept.Neg(); !errors.Is(err, runcible.ErrInvalidArgument) {
		t.Error(err)
	}
	if _, err := graph.Run(background, y); !errors.Is(err, runcible.ErrInvalidArgument) {
		t.Error(err)
	}
	if _, err := graph.Run(background, nil); !errors.Is(err, runcible.ErrInvalidArgument) {
		t.Error(err)
	}
	check(t, graph.Close())
	if _, err := graph.Run(background, x); !errors.Is(err, runcible.ErrClosed) {
		t.Error(err)
	}
}

func TestGraphRunsInManyGoroutines(t *testing.T) {
	backend := cpu(t)
	like := must(runcible.NewTensor(backend, []float32{0, 0}, 2))
	graph, err := runcible.RecordGraph(backend, []*runcible.Tensor{like}, func(x []*runcible.Tensor) ([]*runcible.Tensor, error) {
		made, err := x[0].Add(x[0])
		return []*runcible.Tensor{made}, err
	})
	check(t, err)
	var group sync.WaitGroup
	for i := 1; i <= 6; i++ {
		group.Add(1)
		go func(i float32) {
			defer group.Done()
			y, err := graph.Run(background, must(runcible.NewTensor(backend, []float32{i, 1}, 2)))
			if err != nil {
				t.Error(err)
				return
			}
			if found := fmt.Sprint(must(runcible.Numbers[float32](y[0]))); found != fmt.Sprint([]float32{2 * i, 2}) {
				t.Error(found)
			}
		}(float32(i))
	}
	group.Wait()
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
