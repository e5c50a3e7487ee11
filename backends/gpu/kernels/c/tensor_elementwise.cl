// UNARY, BINARY and the end of SOFTMAX: a work-item gives LANES elements; see
// walk.cl.

#include "common.cl"
#include "some.cl"
#include "functions.cl"
#include "walk.cl"

kernel void unary(const global float* x, ulong x_at, global float* out,
                  ulong out_at, long4 sizes, int function) {
  BEGIN_WALK
  store_some(apply(function, load_some(x + x_at + first, count)),
             out + out_at + first, count);
}

// Of an operand whose last dimension is dense or one element repeated.
INLINE floatL operand(const global float* x, long4 at, long4 strides,
                      int count) {
  x += operand_place(at, strides);
  return strides.w == 0 ? (floatL)(*x) : load_some(x, count);
}

kernel void binary(const global float* a, ulong a_at, const global float* b,
                   ulong b_at, global float* out, ulong out_at, long4 sizes,
                   long4 a_strides, long4 b_strides, int product) {
  BEGIN_WALK
  const floatL u = operand(a + a_at, at, a_strides, count);
  const floatL v = operand(b + b_at, at, b_strides, count);
  store_some(product ? u * v : u + v, out + out_at + first, count);
}

// SOFTMAX, from the largest number and the total of each line.
kernel void softmax(const global float* x, ulong x_at,
                    const global float* largest, const global float* totals,
                    global float* out, ulong out_at, long4 sizes,
                    long4 strides) {
  BEGIN_WALK
  const floatL most = operand(largest, at, strides, count);
  const floatL total = operand(totals, at, strides, count);
  store_some(exp(load_some(x + x_at + first, count) - most) / total,
             out + out_at + first, count);
}
