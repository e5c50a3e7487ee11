// Operands that a broadcast may repeat. BROADCAST is defined by the host: 0 if
// the elements of all operands are those of the output in order.

// `count` elements of an operand, those of the output from i on.
INLINE floatL operand(const global float* p, uint i, int count,
                      const Four* shape, const Four* strides) {
#if BROADCAST
#if LANES > 1
  // Along the last dimension operands are dense or repeat one element.
  if (i % shape->of[3] + count > shape->of[3]) {
    float some[LANES];
    for (int j = 0; j < LANES; ++j) {
      some[j] = j < count ? p[place_of(i + j, shape, strides)] : 0.0f;
    }
    return LOAD(0, some);
  }
#endif
  p += place_of(i, shape, strides);
  if (strides->of[3] == 0) return (floatL)(*p);
  return load_some(p, count);
#else
  return load_some(p + i, count);
#endif
}
