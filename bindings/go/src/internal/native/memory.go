// Package native has the wrappers that SWIG makes of the headers of Runcible, and
// the functions that read the memory that C returns.
package native

/*
#cgo pkg-config: runcible
#include "values.h"
*/
import "C"

import (
	"strings"
	"unsafe"
)

// Name is text for C: with a zero at the end and none within.
type Name string

// MakeName returns false if there is a zero within the text.
//
// It must not be inlined, so that the memory of the name is never on a stack,
// which may move while C reads it.
//
//go:noinline
func MakeName(text string) (Name, bool) {
	return Name(text + "\x00"), strings.IndexByte(text, 0) < 0
}

// Memory is text, bytes or tokens in memory of C.
type Memory struct {
	c C.runcible_memory
}

// Bytes returns the memory itself, which still belongs to the library.
func (m *Memory) Bytes() []byte {
	return unsafe.Slice((*byte)(m.c.data), m.c.size)
}

// Text copies a text, which still belongs to the library.
func (m *Memory) Text() string {
	return string(m.Bytes())
}

// TakeText copies a text, and frees it.
func (m *Memory) TakeText() string {
	defer m.free()
	return m.Text()
}

// TakeBytes copies bytes, and frees them.
func (m *Memory) TakeBytes() []byte {
	defer m.free()
	return append([]byte{}, m.Bytes()...)
}

// TakeTokens copies tokens, and frees them.
func (m *Memory) TakeTokens() []int32 {
	defer m.free()
	return append([]int32{}, unsafe.Slice((*int32)(m.c.data), m.c.size)...)
}

func (m *Memory) free() {
	C.rc_free(m.c.data)
	m.c = C.runcible_memory{}
}

// Floats are F32 [rows, columns], which belong to the library.
type Floats struct {
	c C.runcible_floats
}

// Rows copies them, row by row.
func (f *Floats) Rows() [][]float32 {
	all := append([]float32{}, unsafe.Slice((*float32)(f.c.data), f.c.rows*f.c.columns)...)
	rows := make([][]float32, f.c.rows)
	for i := range rows {
		rows[i] = all[:f.c.columns:f.c.columns]
		all = all[f.c.columns:]
	}
	return rows
}

// Shape has the dimensions of a tensor.
type Shape struct {
	c C.runcible_shape
}

// Sizes copies the dimensions, slowest first.
func (s *Shape) Sizes() []int64 {
	sizes := make([]int64, s.c.rank)
	for i := range sizes {
		sizes[i] = int64(s.c.sizes[i])
	}
	return sizes
}
