//go:build go1.21

package runcible_test

import (
	"errors"
	"reflect"
	"runtime"
	"testing"

	"runcible"
)

// The steps of cases on pinned memory.
func init() {
	actions["Pinned.of"] = newPinned
	actions["write_pinned"] = func(_ *runner, on any, given []any, _, _ map[string]any) (any, error) {
		copy(on.(*runcible.Pinned[float32]).Slice(), floats(given[0]))
		return nil, nil
	}
	actions["from_pinned"] = ofPinned(runcible.NewTensor[float32])
	actions["borrow_pinned"] = ofPinned(runcible.BorrowTensor[float32])
	actions["read_into"] = func(_ *runner, on any, given []any, _, _ map[string]any) (any, error) {
		numbers := given[0].(*runcible.Pinned[float32]).Slice()
		return numbers, runcible.ReadInto(on.(*runcible.Tensor), numbers)
	}
}

func floats(given any) []float32 {
	numbers, _ := convert(given, reflect.TypeOf([]float32{}))
	return numbers.Interface().([]float32)
}

func newPinned(_ *runner, _ any, given []any, _, _ map[string]any) (any, error) {
	values := floats(given[0])
	device := ""
	if len(given) > 2 {
		device = given[2].(string)
	}
	memory, err := runcible.NewPinned[float32](given[1].(*runcible.Backend), len(values), device)
	if err != nil {
		return nil, err
	}
	if err := same(memory.Slice(), make([]float32, len(values))); err != nil {
		return nil, err
	}
	copy(memory.Slice(), values)
	return memory, nil
}

func ofPinned(make func(*runcible.Backend, []float32, ...int64) (*runcible.Tensor, error)) action {
	return func(_ *runner, _ any, given []any, _, _ map[string]any) (any, error) {
		shape, _ := convert(given[1], reflect.TypeOf([]int64{}))
		memory := given[0].(*runcible.Pinned[float32])
		return make(given[2].(*runcible.Backend), memory.Slice(), shape.Interface().([]int64)...)
	}
}

func TestTensorsMoveToAndFromPinnedMemory(t *testing.T) {
	for _, spec := range []string{"cpu", "reference", "opencl", "vulkan"} {
		t.Run(spec, func(t *testing.T) {
			backend, err := runcible.OpenBackend(spec, runcible.BackendOptions{})
			if errors.Is(err, runcible.ErrBackendUnavailable) {
				t.Skip(err)
			}
			check(t, err)
			from := must(runcible.NewPinned[float64](backend, 100, ""))
			to := must(runcible.NewPinned[float64](backend, 100, ""))
			for i := range from.Slice() {
				from.Slice()[i] = float64(i)
			}
			x := must(runcible.NewTensor(backend, from.Slice(), 10, 10))
			from.Slice()[99] = 7 // the tensor has a copy
			runtime.GC()
			check(t, runcible.ReadInto(must(x.Neg()), to.Slice()))
			for i, each := range to.Slice() {
				if each != -float64(i) {
					t.Fatal(i, each)
				}
			}
			check(t, from.Close())
			check(t, to.Close())
			check(t, to.Close())
			if from.Slice() != nil {
				t.Error("a closed Pinned has a slice")
			}
		})
	}
}

func TestPinnedMemoryRefusesInvalidArguments(t *testing.T) {
	backend := cpu(t)
	for _, count := range []int{0, -1, 1 << 61} {
		if _, err := runcible.NewPinned[int64](backend, count, ""); !errors.Is(err, runcible.ErrInvalidArgument) {
			t.Error(count, err)
		}
	}
	memory := must(runcible.NewPinned[float32](backend, 2, ""))
	x := must(runcible.NewTensor(backend, []int32{1, 2, 3}, 3))
	if err := runcible.ReadInto(x, memory.Slice()); !errors.Is(err, runcible.ErrInvalidArgument) {
		t.Error(err)
	}
	check(t, memory.Close())
	if _, err := runcible.BorrowTensor(backend, memory.Slice(), 2); !errors.Is(err, runcible.ErrInvalidArgument) {
		t.Error(err)
	}
}
