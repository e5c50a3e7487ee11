//go:build !go1.21

package native

/*
#include <stdint.h>
*/
import "C"

// runcibleGiveBack is never called: memory cannot be pinned before Go 1.21.
//
//export runcibleGiveBack
func runcibleGiveBack(C.uintptr_t) {}
