package runcible

import (
	"fmt"
	"unsafe"

	"runcible/internal/native"
)

// Tensor is a typed, shaped view of memory on a backend's device. Close it: the
// collector does not see how much memory a device has.
//
//runcible:doc tensor.h
type Tensor struct {
	handle *handle[native.Tensor]
}

// Number is an element type that Go has too.
type Number interface {
	float32 | float64 | int8 | int16 | int32 | int64
}

func dtypeOf[T Number]() DType {
	var zero T
	switch any(zero).(type) {
	case float32:
		return F32
	case float64:
		return F64
	case int8:
		return I8
	case int16:
		return I16
	case int32:
		return I32
	}
	return I64
}

// bytesOf returns the memory of numbers.
func bytesOf[T Number](numbers []T) []byte {
	if len(numbers) == 0 {
		return nil
	}
	size := len(numbers) * int(unsafe.Sizeof(numbers[0]))
	return unsafe.Slice((*byte)(unsafe.Pointer(&numbers[0])), size)
}

// newTensor makes a tensor with a function of the library.
func newTensor(make func(*uintptr) error) (*Tensor, error) {
	var pointer uintptr
	if err := make(&pointer); err != nil {
		return nil, err
	}
	return &Tensor{newHandle[native.Tensor]("Tensor",
		native.SwigcptrTensor(pointer), native.DeleteTensor)}, nil
}

// on makes a tensor on a backend.
func on(backend *Backend, make func(native.Backend, *uintptr) error) (*Tensor, error) {
	b, err := backend.use()
	if err != nil {
		return nil, err
	}
	defer backend.handle.done()
	return newTensor(func(pointer *uintptr) error { return make(b, pointer) })
}

// NewTensor makes a tensor of numbers, which are copied; the shape has the
// slowest dimension first.
func NewTensor[T Number](backend *Backend, numbers []T, shape ...int64) (*Tensor, error) {
	return TensorOfBytes(backend, dtypeOf[T](), bytesOf(numbers), shape...)
}

// RandomNormal makes a tensor of random F32 numbers with a mean and a standard
// deviation. The same seed gives the same numbers on every device. Not for
// secrets.
func RandomNormal(backend *Backend, seed uint64, mean, deviation float32, shape ...int64) (*Tensor, error) {
	return random(backend, seed, shape, func(o native.Random_options) {
		o.SetDistribution(int32(native.RANDOM_NORMAL))
		o.SetMean(mean)
		o.SetDeviation(deviation)
	})
}

// RandomUniform makes a tensor of random F32 numbers, at least low and below
// high. The same seed gives the same numbers on every device. Not for secrets.
func RandomUniform(backend *Backend, seed uint64, low, high float32, shape ...int64) (*Tensor, error) {
	return random(backend, seed, shape, func(o native.Random_options) {
		o.SetDistribution(int32(native.RANDOM_UNIFORM))
		o.SetLow(low)
		o.SetHigh(high)
	})
}

func random(backend *Backend, seed uint64, shape []int64, set func(native.Random_options)) (*Tensor, error) {
	o := native.NewRandom_options()
	defer native.DeleteRandom_options(o)
	if err := made(o); err != nil {
		return nil, err
	}
	o.SetSeed(seed)
	set(o)
	return on(backend, func(b native.Backend, pointer *uintptr) error {
		return native.Tensor_random(b, shape, o, pointer)
	})
}

// DType returns the type of the elements.
func (t *Tensor) DType() (dtype DType, err error) {
	err = t.with(func(tensor native.Tensor) error {
		return native.Tensor_dtype(tensor, (*int32)(&dtype))
	})
	return dtype, err
}

// Shape returns the dimensions, slowest first.
func (t *Tensor) Shape() (sizes []int64, err error) {
	err = t.with(func(tensor native.Tensor) error {
		var shape native.Shape
		if err := native.Tensor_shape(tensor, &shape); err != nil {
			return err
		}
		sizes = shape.Sizes()
		return nil
	})
	return sizes, err
}

// Size returns the number of elements, and the number of bytes that they take.
func (t *Tensor) Size() (elements int64, bytes uint64, err error) {
	err = t.with(func(tensor native.Tensor) error {
		return native.Tensor_size(tensor, &elements, &bytes)
	})
	return elements, bytes, err
}

// Device returns the device of the tensor's memory.
//
//runcible:doc rc_tensor_device
func (t *Tensor) Device() (name string, err error) {
	err = t.with(func(tensor native.Tensor) error {
		var memory native.Memory
		if err := native.Tensor_device(tensor, &memory); err != nil {
			return err
		}
		name = memory.Text()
		return nil
	})
	return name, err
}

// To copies the numbers to another device. The device "" is the one of new
// tensors. If the backend is nil, it is the tensor's own backend.
//
//runcible:doc rc_tensor_to
func (t *Tensor) To(device string, backend *Backend) (*Tensor, error) {
	name, err := makeName("device", device)
	if err != nil {
		return nil, err
	}
	var other native.Backend
	if backend != nil {
		b, err := backend.use()
		if err != nil {
			return nil, err
		}
		defer backend.handle.done()
		other = b
	}
	return t.view(func(tensor native.Tensor, pointer *uintptr) error {
		return native.Tensor_to(tensor, other, name, pointer)
	})
}

// Choice reports the device on which the op of an outline would run, as JSON.
//
//runcible:doc rc_op_choose
func (t *Tensor) Choice() (made []byte, err error) {
	err = t.with(func(tensor native.Tensor) error {
		var memory native.Memory
		if err := native.Op_choose(tensor, &memory); err != nil {
			return err
		}
		made = []byte(memory.TakeText())
		return nil
	})
	return made, err
}

// Bytes returns the numbers in the layout of their type.
//
//runcible:doc rc_tensor_read
func (t *Tensor) Bytes() ([]byte, error) {
	_, size, err := t.Size()
	if err != nil {
		return nil, err
	}
	data := make([]byte, size)
	return data, t.with(func(tensor native.Tensor) error {
		return native.Tensor_read(tensor, data)
	})
}

// Numbers returns the numbers of a tensor of that type. As float32 it reads
// tensors of any type.
func Numbers[T Number](t *Tensor) ([]T, error) {
	dtype, err := t.DType()
	if err != nil {
		return nil, err
	}
	wanted := dtypeOf[T]()
	if dtype != wanted {
		if wanted != F32 {
			return nil, newError(ErrInvalidArgument,
				fmt.Sprintf("the tensor is of %v, not %v", dtype, wanted))
		}
		if t, err = t.Dequantize(); err != nil {
			return nil, err
		}
		defer t.Close()
	}
	elements, _, err := t.Size()
	if err != nil {
		return nil, err
	}
	numbers := make([]T, elements)
	return numbers, t.with(func(tensor native.Tensor) error {
		return native.Tensor_read(tensor, bytesOf(numbers))
	})
}

// ReadInto writes the numbers of a tensor of that type, in order, to a slice of
// the same number of elements. It waits for numbers that are being computed.
func ReadInto[T Number](t *Tensor, numbers []T) error {
	dtype, err := t.DType()
	if err != nil {
		return err
	}
	if wanted := dtypeOf[T](); dtype != wanted {
		return newError(ErrInvalidArgument,
			fmt.Sprintf("the tensor is of %v, not %v", dtype, wanted))
	}
	return t.with(func(tensor native.Tensor) error {
		return native.Tensor_read(tensor, bytesOf(numbers))
	})
}

func (t *Tensor) view(make func(native.Tensor, *uintptr) error) (made *Tensor, err error) {
	err = t.with(func(tensor native.Tensor) error {
		made, err = newTensor(func(pointer *uintptr) error {
			return make(tensor, pointer)
		})
		return err
	})
	return made, err
}
