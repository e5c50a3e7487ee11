package native

/*
#include <stdint.h>
*/
import "C"

import "runtime/cgo"

// Progress is told how far a load is, on the goroutine that loads; returning
// false cancels the load.
type Progress func(fraction float64) bool

//export runcibleTellProgress
func runcibleTellProgress(function C.uintptr_t, fraction C.double) C.int32_t {
	if cgo.Handle(function).Value().(Progress)(float64(fraction)) {
		return 0
	}
	return 1
}
