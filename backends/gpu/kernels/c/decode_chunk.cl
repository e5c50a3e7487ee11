// Chunks of blocks as numbers, each rounded as the format says. LANES is 1.

#ifdef PLAIN
#define ITEMS_PER_BLOCK 1
#else
#define ITEMS_PER_BLOCK CHUNKS

INLINE float exact(int quant, float scale, float offset) {
#ifdef MINIMUMS
  const float product = convert_float(quant) * scale;
  return product + offset;
#else
  return fma(convert_float(quant), scale, offset);
#endif
}
#endif

// `to` is where the first element of the block goes.
INLINE void decode_chunk(Bytes block, int chunk, global float* to) {
#ifdef PLAIN
  *to = element(block);
#else
  float scale[2], offset[2];
  scales(block, chunk, scale, offset);
  to += first_of(chunk);
  for (int l = 0; l < SPAN; ++l) {
    int first, second;
    quants(block, chunk, l, &first, &second);
    to[l] = exact(first, scale[0], offset[0]);
    to[l + APART] = exact(second, scale[1], offset[1]);
  }
#endif
}
