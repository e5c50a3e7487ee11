// COPY: a work-item copies LANES units of a strided view. A unit is as many
// bytes as make up an element, or divide a block; see walk.cl for the rest.
//
// Defined by the host: UNIT, an unsigned integer type.

#include "common.cl"
#include "walk.cl"

kernel void copy(const global UNIT* x, ulong x_at, global UNIT* out,
                 ulong out_at, long4 sizes, long4 strides) {
  BEGIN_WALK
  x += x_at + operand_place(at, strides);
  out += out_at + first;
  if (strides.w == 1 && count == LANES) {
    STORE(LOAD(0, x), 0, out);
    return;
  }
  for (int i = 0; i < count; ++i) out[i] = x[i * strides.w];
}
