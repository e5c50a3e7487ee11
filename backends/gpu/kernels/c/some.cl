// Vectors of LANES elements of which the last ones may be missing.

// `count` elements as a vector, the missing ones 0.
INLINE floatL load_some(const global float* p, int count) {
#if LANES == 1
  return *p;
#else
  if (count >= LANES) return LOAD(0, p);
  float some[LANES];
  for (int i = 0; i < LANES; ++i) some[i] = i < count ? p[i] : 0.0f;
  return LOAD(0, some);
#endif
}

INLINE void store_some(floatL v, global float* p, int count) {
#if LANES == 1
  *p = v;
#else
  if (count >= LANES) {
    STORE(v, 0, p);
    return;
  }
  float some[LANES];
  STORE(v, 0, some);
  for (int i = 0; i < count; ++i) p[i] = some[i];
#endif
}
