// ROPE of tensors: a work-item turns LANES pairs of every head of a row.

#include "common.cl"
#include "turn.cl"

kernel void tensor_rope(const global float* x, ulong x_at,
                        const global int* positions, ulong positions_at,
                        const global float* frequencies, ulong frequencies_at,
                        global float* out, ulong out_at, int heads, int d,
                        int pairs, int halves, float scale) {
  const ulong row = get_global_id(1);
  x += x_at + row * heads * d;
  out += out_at + row * heads * d;
  turn(x, convert_float(positions[positions_at + row]),
       frequencies + frequencies_at, out, heads, d, pairs, halves, scale,
       get_global_id(0), get_global_size(0));
}
