//go:build go1.21

package runcible_test

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"runcible"
)

func TestBorrowedTensorSharesTheSlice(t *testing.T) {
	backend := cpu(t)
	numbers := []float32{9, 1, -2, 3, 9}
	x, err := runcible.BorrowTensor(backend, numbers[1:4], 3)
	check(t, err)
	if found := must(runcible.Numbers[float32](must(x.ReLU()))); found[0] != 1 || found[1] != 0 || found[2] != 3 {
		t.Error(found)
	}
	numbers[1] = -7 // the tensor sees it
	if found := must(runcible.Numbers[float32](x)); found[0] != -7 {
		t.Error(found)
	}
	y := must(runcible.NewTensor(backend, []float32{1, 2, 3}, 3))
	must(must(y.Into(x)).Neg()) // writes to the slice
	if fmt.Sprint(numbers) != "[9 -1 -2 -3 9]" {
		t.Error(numbers)
	}
	if _, err := runcible.BorrowTensor(backend, numbers, 4); !errors.Is(err, runcible.ErrInvalidArgument) {
		t.Error(err)
	}
	empty, err := runcible.BorrowTensor(backend, []int64{}, 0)
	check(t, err)
	check(t, empty.Close())
}

func TestGraphKeepsBorrowedMemory(t *testing.T) {
	backend := cpu(t)
	gone := make(chan struct{})
	var graph *runcible.Graph
	func() {
		numbers := new([1 << 16]float32)
		numbers[0] = 5
		runtime.SetFinalizer(numbers, func(*[1 << 16]float32) { close(gone) })
		x := must(runcible.BorrowTensor(backend, numbers[:], 1<<16))
		graph = must(runcible.RecordGraph(backend, []*runcible.Tensor{x}, func(in []*runcible.Tensor) ([]*runcible.Tensor, error) {
			made, err := in[0].Add(x)
			return []*runcible.Tensor{made}, err
		}))
		check(t, x.Close())
	}()
	for i := 0; i < 3; i++ {
		runtime.GC()
	}
	select {
	case <-gone:
		t.Fatal("the memory of a constant of the graph was freed")
	default:
	}
	ones := must(runcible.Ones(backend, runcible.F32, 1<<16))
	if found := must(runcible.Numbers[float32](must(graph.Run(background, ones))[0])); found[0] != 6 {
		t.Error(found[0])
	}
	check(t, graph.Close())
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		runtime.GC()
		select {
		case <-gone:
			return
		default:
		}
	}
	t.Error("the borrowed memory was never released")
}
