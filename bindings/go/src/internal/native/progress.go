package native

/*
#include <stdint.h>
*/
import "C"

import "runtime/cgo"

// Progress receives the fraction done of a load, on the goroutine that loads.
// Returning false cancels the load.
type Progress func(fraction float64) bool

//export runcibleReportProgress
func runcibleReportProgress(function C.uintptr_t, fraction C.double) C.int32_t {
	if cgo.Handle(function).Value().(Progress)(float64(fraction)) {
		return 0
	}
	return 1
}
