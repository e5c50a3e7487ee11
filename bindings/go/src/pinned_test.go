//go:build go1.21

package runcible_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"runcible"
)

// The steps of pinned memory.
func init() {
	for name, action := range map[string]func(*runner, step) error{
		"pinned": newPinned, "from_pinned": fromPinned, "borrow_pinned": borrowPinned,
		"write_pinned": writePinned, "read_into": readInto, "drop_pinned": dropPinned,
	} {
		actions[name] = action
	}
}

func (r *runner) pinned(s step) *runcible.Pinned[float32] {
	return r.get(s.text("memory")).(*runcible.Pinned[float32])
}

func write(numbers []float32, given any) {
	for i, each := range given.([]any) {
		numbers[i] = float32(each.(float64))
	}
}

func newPinned(r *runner, s step) error {
	backend, err := runcible.OpenBackend(s.text("backend"), runcible.BackendOptions{})
	if err != nil {
		return err
	}
	_, count := sizes(s["shape"])
	device, _ := s["device"].(string)
	memory, err := runcible.NewPinned[float32](backend, count, device)
	if err != nil {
		return err
	}
	for _, each := range memory.Slice() {
		if each != 0 {
			return errors.New("the memory is not zero at first")
		}
	}
	write(memory.Slice(), s["values"])
	r.set(s.text("as"), memory)
	return nil
}

func ofPinned(r *runner, s step, make func(*runcible.Backend, []float32, ...int64) (*runcible.Tensor, error)) error {
	backend, err := runcible.OpenBackend(s.text("backend"), runcible.BackendOptions{})
	if err != nil {
		return err
	}
	shape, _ := sizes(s["shape"])
	made, err := make(backend, r.pinned(s).Slice(), shape...)
	if err == nil {
		r.set(s.text("as"), made)
	}
	return err
}

func fromPinned(r *runner, s step) error {
	return ofPinned(r, s, runcible.NewTensor[float32])
}

func borrowPinned(r *runner, s step) error {
	return ofPinned(r, s, runcible.BorrowTensor[float32])
}

func writePinned(r *runner, s step) error {
	write(r.pinned(s).Slice(), s["values"])
	return nil
}

func readInto(r *runner, s step) error {
	numbers := r.pinned(s).Slice()
	if err := runcible.ReadInto(r.tensor(s.text("tensor")), numbers); err != nil {
		return err
	}
	expected := make([]float32, len(numbers))
	write(expected, s["expect"])
	return same(numbers, expected)
}

func dropPinned(r *runner, s step) error {
	return r.pinned(s).Close()
}

func TestPinnedMemory(t *testing.T) {
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
			from.Slice()[99] = 7 // what was moved is a copy
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
				t.Error("it is closed")
			}
		})
	}
}

func TestPinnedMemoryIsKept(t *testing.T) {
	backend := cpu(t)
	memory := must(runcible.NewPinned[float32](backend, 8, "cpu"))
	x := must(runcible.BorrowTensor(backend, memory.Slice()[2:5], 3))
	copy(memory.Slice(), []float32{0, 0, 1, -2, 3})
	graph := must(runcible.RecordGraph(backend, []*runcible.Tensor{x}, func(in []*runcible.Tensor) ([]*runcible.Tensor, error) {
		made, err := in[0].Add(x)
		return []*runcible.Tensor{made}, err
	}))
	check(t, x.Close())
	check(t, memory.Close())
	y := must(graph.Run(background, must(runcible.NewTensor(backend, []float32{1, 1, 1}, 3))))[0]
	if err := same(must(runcible.Numbers[float32](y)), []float32{2, -1, 4}); err != nil {
		t.Error(err)
	}
}

func TestWhatCannotBePinned(t *testing.T) {
	backend := cpu(t)
	for _, count := range []int{0, -1, 1 << 61} {
		if _, err := runcible.NewPinned[int64](backend, count, ""); !errors.Is(err, runcible.ErrInvalidArgument) {
			t.Error(count, err)
		}
	}
	_, err := runcible.NewPinned[int8](backend, 1, "vulkan:99")
	if !errors.Is(err, runcible.ErrInvalidArgument) || !strings.Contains(err.Error(), "vulkan:99") {
		t.Error(err)
	}
	memory := must(runcible.NewPinned[float32](backend, 2, ""))
	x := must(runcible.NewTensor(backend, []int32{1, 2, 3}, 3))
	if err := runcible.ReadInto(x, memory.Slice()); !errors.Is(err, runcible.ErrInvalidArgument) {
		t.Error(err)
	}
	y := must(runcible.NewTensor(backend, []float32{1, 2, 3}, 3))
	if err := runcible.ReadInto(y, memory.Slice()); !errors.Is(err, runcible.ErrInvalidArgument) {
		t.Error(err)
	}
	check(t, memory.Close())
	if _, err := runcible.BorrowTensor(backend, memory.Slice(), 2); !errors.Is(err, runcible.ErrInvalidArgument) {
		t.Error(err)
	}
}
