package native

/*
#include <runcible/custom_op.h>
#include <stdint.h>
#include <string.h>

int32_t runcible_custom_stopped(const rc_custom_call* call);
*/
import "C"

import (
	"runtime/cgo"
	"unsafe"
)

// CustomValue is memory of the library, valid during the call only.
type CustomValue struct {
	DType int32
	Shape []int64
	Data  []byte
}

// CustomCall describes what the function of a custom op has to compute.
type CustomCall struct {
	c               *C.rc_custom_call
	Inputs, Outputs []CustomValue
	Attributes      []float64
	Begin, End      int64
}

// Stopped reports whether the op is no longer needed.
func (call *CustomCall) Stopped() bool {
	return C.runcible_custom_stopped(call.c) != 0
}

// Custom computes a call, on any thread, and several at once. If the status is an
// error, the message describes it.
type Custom func(call *CustomCall) (status int32, message string)

func customValues(first **C.rc_op_value, count C.size_t) []CustomValue {
	values := make([]CustomValue, count)
	for i, each := range unsafe.Slice(first, count) {
		sizes := unsafe.Slice((*int64)(unsafe.Pointer(&each.shape[0])), each.rank)
		values[i] = CustomValue{
			DType: int32(each.dtype),
			Shape: append([]int64{}, sizes...),
			Data:  unsafe.Slice((*byte)(each.data), each.bytes),
		}
	}
	return values
}

//export runcibleCustomCompute
func runcibleCustomCompute(function C.uintptr_t, call *C.rc_custom_call, message *C.char) C.int32_t {
	made := &CustomCall{
		c:       call,
		Inputs:  customValues(call.inputs, call.input_count),
		Outputs: customValues(call.outputs, call.output_count),
		Begin:   int64(call.begin),
		End:     int64(call.end),
	}
	attributes := unsafe.Slice((*float64)(unsafe.Pointer(call.attributes)), call.attribute_count)
	made.Attributes = append([]float64{}, attributes...)
	status, text := cgo.Handle(function).Value().(Custom)(made)
	if status != 0 {
		room := unsafe.Slice((*byte)(unsafe.Pointer(message)), C.RC_OP_BACKEND_MESSAGE_BYTES)
		room[copy(room[:len(room)-1], text)] = 0
	}
	return C.int32_t(status)
}

//export runcibleCustomRelease
func runcibleCustomRelease(function C.uintptr_t) {
	cgo.Handle(function).Delete()
}
