// ROPE: a work-item turns LANES pairs of every head of a row.

#include "common.cl"

// position * frequency - 2 pi n with |result| <= pi and a bit, good to some
// 2^-30: the product is taken in two parts, and so is 2 pi.
INLINE floatL angle_of(float position, floatL frequency) {
  const floatL high = position * frequency;
  const floatL low = fma((floatL)(position), frequency, -high);
  const floatL turns = rint(high * 0.15915494309189535f);
  floatL angle = fma(turns, (floatL)(-6.28125f), high);
  angle = fma(turns, (floatL)(-0x1.fb5444p-10f), angle);
  angle = fma(turns, (floatL)(3.1969556e-13f), angle);
  return angle + low;
}

kernel void rope(const global float* x, ulong x_at, const global int* positions,
                 ulong positions_at, const global float* frequencies,
                 ulong frequencies_at, global float* out, ulong out_at,
                 int heads, int d, int pairs, int halves, float scale) {
  const int first = get_global_id(0) * LANES;
  const ulong row = get_global_id(1);
  if (first >= pairs) return;
  const int count = min(LANES, pairs - first);
  frequencies += frequencies_at;
  float some[LANES];
  for (int i = 0; i < LANES; ++i) {
    some[i] = i < count ? frequencies[first + i] : 0.0f;
  }
  const floatL angle =
      angle_of(convert_float(positions[positions_at + row]), LOAD(0, some));
  float cosines[LANES], sines[LANES];
  STORE(cos(angle) * scale, 0, cosines);
  STORE(sin(angle) * scale, 0, sines);
  x += x_at + row * heads * d;
  out += out_at + row * heads * d;
  for (int head = 0; head < heads; ++head, x += d, out += d) {
    for (int i = 0; i < count; ++i) {
      const int a = halves ? first + i : 2 * (first + i);
      const int b = halves ? a + pairs : a + 1;
      // Both are read before either is written: x may be out.
      const float xa = x[a];
      const float xb = x[b];
      out[a] = xa * cosines[i] - xb * sines[i];
      out[b] = xa * sines[i] + xb * cosines[i];
    }
    if (first == 0) {
      for (int i = 2 * pairs; i < d; ++i) out[i] = x[i];
    }
  }
}
