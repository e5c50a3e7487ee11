// Package native is what SWIG makes of the headers of Runcible, and what reads
// the memory that C gives out.
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

// Name is text with a zero behind it and none within, as C wants it.
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

// Memory is text, bytes or tokens of C.
type Memory struct {
	c C.runcible_memory
}

// Bytes are those that stay the library's, not a copy.
func (m *Memory) Bytes() []byte {
	return unsafe.Slice((*byte)(m.c.data), m.c.size)
}

// Text copies a text that stays the library's.
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

// Floats are F32 [rows, columns] that stay the library's.
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
