// GLU, UNARY, ADD, SCALE, SOFTCAP, EXPERT_SUM and GET_ROWS of scratch: a
// work-item gives LANES elements of one row of `width`.

#include "common.cl"
#include "some.cl"
#include "functions.cl"

#define BEGIN_ROW                             \
  const int column = get_global_id(0) * LANES; \
  const ulong row = get_global_id(1);          \
  if (column >= width) return;                 \
  const int count = width - column;            \
  const ulong at = row * width + column;

kernel void glu(const global float* gate, ulong gate_at,
                const global float* up, ulong up_at, global float* out,
                ulong out_at, int width, int function, float limit,
                float offset) {
  BEGIN_ROW
  floatL g = load_some(gate + gate_at + at, count);
  floatL u = load_some(up + up_at + at, count);
  if (limit > 0.0f) {
    // A NaN stays.
    g = CHOOSE(g, (floatL)(limit), g > limit);
    u = CHOOSE(u, (floatL)(limit), u > limit);
    u = CHOOSE(u, (floatL)(-limit), u < -limit);
  }
  store_some(apply(function, g) * (u + offset), out + out_at + at, count);
}

kernel void unary(const global float* x, ulong x_at, global float* out,
                  ulong out_at, int width, int function) {
  BEGIN_ROW
  store_some(apply(function, load_some(x + x_at + at, count)),
             out + out_at + at, count);
}

kernel void add(const global float* a, ulong a_at, const global float* b,
                ulong b_at, global float* out, ulong out_at, int width) {
  BEGIN_ROW
  store_some(load_some(a + a_at + at, count) + load_some(b + b_at + at, count),
             out + out_at + at, count);
}

kernel void scale(const global float* x, ulong x_at, global float* out,
                  ulong out_at, int width, float factor) {
  BEGIN_ROW
  store_some(load_some(x + x_at + at, count) * factor, out + out_at + at,
             count);
}

kernel void softcap(const global float* x, ulong x_at, global float* out,
                    ulong out_at, int width, float cap) {
  BEGIN_ROW
  store_some(cap * tanh(load_some(x + x_at + at, count) / cap),
             out + out_at + at, count);
}

kernel void expert_sum(const global float* x, ulong x_at,
                       const global float* weights, ulong weights_at,
                       global float* out, ulong out_at, int width,
                       int chosen) {
  BEGIN_ROW
  floatL sum = 0.0f;
  for (int c = 0; c < chosen; ++c) {
    const ulong choice = row * chosen + c;
    const floatL v = load_some(x + x_at + choice * width + column, count);
    sum = MULTIPLY_ADD((floatL)(weights[weights_at + choice]), v, sum);
  }
  store_some(sum, out + out_at + at, count);
}

// counts[which] is the number of rows of x.
kernel void copy_rows(const global float* x, ulong x_at, const global int* ids,
                      ulong ids_at, global float* out, ulong out_at, int width,
                      const global int* counts, int which) {
  BEGIN_ROW
  // A number that x does not have gives its first row.
  const uint asked = ids[ids_at + row];
  const ulong id = asked < (uint)counts[which] ? asked : 0;
  store_some(load_some(x + x_at + id * width + column, count),
             out + out_at + at, count);
}
