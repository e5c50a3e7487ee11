// The rotation of ROPE.

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

// Turns the pairs of `heads` heads at one position: LANES pairs at a time, by
// work-item `item` of `items`.
INLINE void turn(const global float* x, float position,
                 const global float* frequencies, global float* out, int heads,
                 int d, int pairs, bool halves, float scale, int item,
                 int items) {
  for (int first = item * LANES; first < pairs; first += items * LANES) {
    const int count = min(LANES, pairs - first);
    float some[LANES];
    for (int i = 0; i < LANES; ++i) {
      some[i] = i < count ? frequencies[first + i] : 0.0f;
    }
    const floatL angle = angle_of(position, LOAD(0, some));
    float cosines[LANES], sines[LANES];
    STORE(cos(angle) * scale, 0, cosines);
    STORE(sin(angle) * scale, 0, sines);
    for (int head = 0; head < heads; ++head) {
      const global float* from = x + head * d;
      global float* to = out + head * d;
      for (int i = 0; i < count; ++i) {
        const int a = halves ? first + i : 2 * (first + i);
        const int b = halves ? a + pairs : a + 1;
        // Both are read before either is written: x may be out.
        const float xa = from[a];
        const float xb = from[b];
        to[a] = xa * cosines[i] - xb * sines[i];
        to[b] = xa * sines[i] + xb * cosines[i];
      }
    }
  }
  for (int head = 0; head < heads; ++head) {
    for (int i = 2 * pairs + item; i < d; i += items) {
      out[head * d + i] = x[head * d + i];
    }
  }
}
