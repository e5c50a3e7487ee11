//go:build go1.21

package runcible

import "runcible/internal/native"

// BorrowTensor, which needs Go 1.21, makes a tensor that uses the memory of a
// slice, also of a slice of Pinned, without a copy. The slice stays at its
// address as long as the library needs it. Ops read the values that are in the
// slice when they run, and ops that write into the tensor write to the slice. Do
// not access the slice while a call works with it.
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
