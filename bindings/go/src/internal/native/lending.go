//go:build go1.21

package native

/*
#include <stdint.h>
*/
import "C"

import (
	"runtime"
	"runtime/cgo"
)

// Lend pins the memory that begins at a pointer, and returns its number for C,
// which passes it to runcibleGiveBack once.
func Lend(memory any) uint64 {
	pinner := new(runtime.Pinner)
	pinner.Pin(memory)
	return uint64(cgo.NewHandle(pinner))
}

// GiveBack unpins memory that Lend pinned.
func GiveBack(lent uint64) {
	handle := cgo.Handle(lent)
	handle.Value().(*runtime.Pinner).Unpin()
	handle.Delete()
}

//export runcibleGiveBack
func runcibleGiveBack(lent C.uintptr_t) {
	GiveBack(uint64(lent))
}
