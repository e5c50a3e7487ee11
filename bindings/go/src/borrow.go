//go:build go1.21

package runcible

import "runcible/internal/native"

// BorrowTensor, which needs Go 1.21, makes a tensor of the memory of numbers, which
// are not copied: the slice is kept in its place as long as the library needs it,
// also one of Pinned. What is written there later ops read, and ops that go into the
// tensor write there; not while a call works with it.
//
//runcible:doc rc_tensor_borrow
func BorrowTensor[T Number](backend *Backend, numbers []T, shape ...int64) (*Tensor, error) {
	if len(numbers) == 0 {
		return NewTensor(backend, numbers, shape...)
	}
	if pinned, first := pinnedMemory.of(bytesOf(numbers)); pinned != nil {
		p, err := pinned.use()
		if err != nil {
			return nil, err
		}
		defer pinned.done()
		return on(backend, func(b native.Backend, pointer *uintptr) error {
			size := int64(len(bytesOf(numbers)))
			return native.Pinned_borrow(b, int32(dtypeOf[T]()), shape, p, first, size, pointer)
		})
	}
	lent := native.Lend(&numbers[0])
	tensor, err := on(backend, func(b native.Backend, pointer *uintptr) error {
		return native.Tensor_borrow(b, int32(dtypeOf[T]()), shape, bytesOf(numbers), lent, pointer)
	})
	if err != nil {
		native.GiveBack(lent)
	}
	return tensor, err
}
