package runcible

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"unsafe"

	"runcible/internal/native"
)

// Pinned is memory that a device copies numbers from and to by itself, without a
// copy in between. NewTensor, ReadInto and BorrowTensor take slices of it like any
// other slices. For other devices it is ordinary memory.
//
// Close it once no slice of it is used any more: the collector does not see these
// slices and never frees the memory. Tensors that borrow the memory keep it longer.
type Pinned[T Number] struct {
	handle  *handle[native.Pinned]
	numbers []T
}

// NewPinned makes room for `count` numbers, at least one, which are zero at first
// and count within the backend's MemoryLimit. The device is one of the backend's;
// "" is the one of its new tensors. ErrUnsupported: the device has no such
// memory, as those of webgpu.
func NewPinned[T Number](backend *Backend, count int, device string) (*Pinned[T], error) {
	name, err := makeName("device", device)
	if err != nil {
		return nil, err
	}
	b, err := backend.use()
	if err != nil {
		return nil, err
	}
	defer backend.handle.done()
	var zero T
	size := int(unsafe.Sizeof(zero))
	if count < 1 || count > math.MaxInt/size {
		return nil, newError(ErrInvalidArgument,
			fmt.Sprintf("count: %d numbers of %d bytes; from 1 to %d are possible", count, size, math.MaxInt/size))
	}
	var pointer uintptr
	if err := native.Pinned_make(b, name, int64(count*size), &pointer); err != nil {
		return nil, err
	}
	h := newHandle[native.Pinned]("Pinned", native.SwigcptrPinned(pointer), native.DeletePinned)
	runtime.SetFinalizer(h, nil)
	var memory native.Memory
	if err := native.Pinned_show(h.proxy, &memory); err != nil {
		h.close()
		return nil, err
	}
	numbers := unsafe.Slice((*T)(unsafe.Pointer(&memory.Bytes()[0])), count)
	pinnedMemory.add(bytesOf(numbers), h)
	return &Pinned[T]{h, numbers}, nil
}

// Slice returns the memory; nil once it is closed.
func (p *Pinned[T]) Slice() []T {
	if p.handle == nil || p.handle.closed.Load() {
		return nil
	}
	return p.numbers
}

// Close releases the memory; no slice of it may be used any more.
func (p *Pinned[T]) Close() error {
	if p.handle != nil {
		pinnedMemory.remove(p.handle)
		p.handle.close()
	}
	return nil
}

// pinnedMemory has all open pinned memory; BorrowTensor finds slices of it there.
var pinnedMemory pinnedRanges

type pinnedRanges struct {
	mutex sync.Mutex
	all   []pinnedRange
}

type pinnedRange struct {
	first, size uintptr
	handle      *handle[native.Pinned]
}

func (r *pinnedRanges) add(memory []byte, h *handle[native.Pinned]) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.all = append(r.all, pinnedRange{uintptr(unsafe.Pointer(&memory[0])), uintptr(len(memory)), h})
}

func (r *pinnedRanges) remove(h *handle[native.Pinned]) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for i, each := range r.all {
		if each.handle == h {
			r.all = append(r.all[:i], r.all[i+1:]...)
			return
		}
	}
}

// of returns the pinned memory that contains these bytes, and their offset in it;
// nil if there is none.
func (r *pinnedRanges) of(memory []byte) (h *handle[native.Pinned], first int64) {
	address := uintptr(unsafe.Pointer(&memory[0]))
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, each := range r.all {
		if address >= each.first && address-each.first < each.size {
			return each.handle, int64(address - each.first)
		}
	}
	return nil, 0
}
