// Products of matrices of 16 by 16 that a sub-group of 32 work-items takes
// together: elements are binary16 in shared memory, sums are f32.
//
// A prelude whose language has matrix cores defines TILE_MULTIPLY and the type
// and functions below in its own way. These are plain: item i of a sub-group has
// the eight sums from 8 (i % 2) on of row i / 2.

#define TILE_SIDE 16
#define SUB_GROUP 32

#ifndef TILE_MULTIPLY
typedef struct {
  float of[8];
} TileSums;

INLINE void tile_clear(TileSums* sums) {
  for (int i = 0; i < 8; ++i) sums->of[i] = 0.0f;
}

// sums += a * transposed(b): a and b are 16 rows of 16 elements, which begin
// `line` elements apart.
INLINE void tile_multiply(TileSums* sums, const local half* a,
                          const local half* b, int line) {
  const int item = get_local_id(0) % SUB_GROUP;
  const int row = item / 2 * line;
  for (int k = 0; k < TILE_SIDE; ++k) {
    const float x = vload_half(row + k, a);
    for (int i = 0; i < 8; ++i) {
      const float w = vload_half((item % 2 * 8 + i) * line + k, b);
      sums->of[i] = MULTIPLY_ADD(x, w, sums->of[i]);
    }
  }
}

// Writes the sums to 16 rows of 16.
INLINE void tile_store(const TileSums* sums, local float* to) {
  const int item = get_local_id(0) % SUB_GROUP;
  for (int i = 0; i < 8; ++i) to[item * 8 + i] = sums->of[i];
}

#define TILE_MULTIPLY(sums, a, b, line) tile_multiply(sums, a, b, line)
#endif
