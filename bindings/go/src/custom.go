package runcible

import (
	"errors"
	"fmt"
	"runtime/cgo"
	"unsafe"

	"runcible/internal/native"
)

// CustomOp is a tensor op that the program defines.
//
//runcible:doc custom_op.h
type CustomOp struct {
	handle  *handle[native.Custom_op]
	outputs int32
}

// CustomOpOptions describe an op. It has kernels, a function, or both.
type CustomOpOptions struct {
	// :api: fields rc_custom_op_options
	// Computes the op on devices that compute in host memory, on any thread, and
	// with Items in several calls at once. If it returns an error or panics, the op
	// fails with that error and its text.
	Function func(call *CustomCall) error
	// A C function in place of Function: Symbol is its name in the shared library at
	// the path Library, which stays loaded.
	Library, Symbol string
	// The address of a C function, an rc_custom_function, in place of Function.
	Address uintptr
}

// CustomCall describes what a function has to compute: the items from Begin to
// before End. All memory belongs to the library, and is valid during the call
// only.
type CustomCall struct {
	Inputs, Outputs []CustomValue
	// The values of the attributes, in the order in which the options name them.
	Attributes []float64
	Begin, End int64
	call       *native.CustomCall
}

// Stopped reports whether the op is no longer needed. A function that runs for
// more than 20 ms should check it now and then, and return ErrCancelled.
func (call *CustomCall) Stopped() bool {
	return call.call.Stopped()
}

// CustomValue is an input or an output of a function, row-major.
type CustomValue struct {
	DType DType
	Shape []int64 // the slowest dimension first
	Data  []byte
}

// Elements returns the numbers of a value. It panics if the value has another
// type.
func Elements[T Number](value CustomValue) []T {
	if wanted := dtypeOf[T](); value.DType != wanted {
		panic(fmt.Sprintf("the value is of %v, not %v", value.DType, wanted))
	}
	if len(value.Data) == 0 {
		return nil
	}
	var one T
	return unsafe.Slice((*T)(unsafe.Pointer(&value.Data[0])), len(value.Data)/int(unsafe.Sizeof(one)))
}

func valuesOf(values []native.CustomValue) []CustomValue {
	made := make([]CustomValue, len(values))
	for i, each := range values {
		made[i] = CustomValue{DType(each.DType), each.Shape, each.Data}
	}
	return made
}

// custom wraps a function for C.
func custom(function func(*CustomCall) error) native.Custom {
	return func(call *native.CustomCall) (status int32, message string) {
		defer func() {
			// A panic must not reach C.
			if thrown := recover(); thrown != nil {
				status, message = int32(ErrDevice), fmt.Sprintf("panic: %v", thrown)
			}
		}()
		err := function(&CustomCall{valuesOf(call.Inputs), valuesOf(call.Outputs),
			call.Attributes, call.Begin, call.End, call})
		if err == nil {
			return 0, ""
		}
		failed := ErrDevice
		if own := new(Error); errors.As(err, &own) {
			return int32(own.Status), own.Message
		}
		errors.As(err, &failed)
		return int32(failed), err.Error()
	}
}

// NewCustomOp makes an op; nothing is compiled yet.
//
//runcible:doc rc_custom_op_create
func NewCustomOp(options CustomOpOptions) (*CustomOp, error) {
	if abiError != nil {
		return nil, abiError
	}
	o, err := options.native()
	if err != nil {
		return nil, err
	}
	defer native.DeleteCustom_op_options(o)
	if options.Address != 0 {
		o.Set_function(uint64(options.Address))
	}
	if options.Library != "" {
		library, err := makeName("the library", options.Library)
		if err != nil {
			return nil, err
		}
		symbol, err := makeName("the symbol", options.Symbol)
		if err != nil {
			return nil, err
		}
		if err := o.Set_function_of(library, symbol); err != nil {
			return nil, err
		}
	}
	var function cgo.Handle
	if options.Function != nil {
		function = cgo.NewHandle(custom(options.Function))
		o.Set_callback(uint64(function))
	}
	var pointer uintptr
	if err := native.Custom_op_create(o, &pointer); err != nil {
		if options.Function != nil {
			function.Delete()
		}
		return nil, err
	}
	return &CustomOp{newHandle[native.Custom_op]("CustomOp",
		native.SwigcptrCustom_op(pointer), native.DeleteCustom_op),
		o.Outputs()}, nil
}

// Compute returns the outputs for these inputs and attributes, which are in the
// order in which the options name them. If a graph records an input, the op is
// recorded.
//
//runcible:doc rc_custom_op_compute
func (op *CustomOp) Compute(inputs []*Tensor, attributes ...float64) ([]*Tensor, error) {
	proxy, err := op.use()
	if err != nil {
		return nil, err
	}
	defer op.handle.done()
	numbers := native.NewNumber_list()
	if err := made(numbers); err != nil {
		return nil, err
	}
	defer native.DeleteNumber_list(numbers)
	for _, each := range attributes {
		if err := numbers.Add(each); err != nil {
			return nil, err
		}
	}
	results := native.NewTensor_list()
	if err := made(results); err != nil {
		return nil, err
	}
	defer native.DeleteTensor_list(results)
	err = withTensors(inputs, func(list native.Tensor_list) error {
		return native.Custom_op_compute(proxy, list, numbers, op.outputs, results)
	})
	if err != nil {
		return nil, err
	}
	return tensorsOf(results, int(op.outputs))
}
