// Products of matrices by tensor cores: see matrices.cl. Which numbers of a matrix
// an item of a warp has is known to the instructions alone.

typedef struct {
  float of[8];
} TileSums;

INLINE void tile_clear(TileSums* sums) {
  for (int i = 0; i < 8; ++i) sums->of[i] = 0.0f;
}

#define EIGHT_OUTPUTS(constraint, r)                                       \
  constraint(r[0]), constraint(r[1]), constraint(r[2]), constraint(r[3]), \
      constraint(r[4]), constraint(r[5]), constraint(r[6]), constraint(r[7])

INLINE void tile_multiply(TileSums* sums, const local half* a,
                          const local half* b, int line) {
  uint x[8], w[8];
  float* const s = sums->of;
  __asm__ volatile(
      "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7}, [%8], %9;"
      : EIGHT_OUTPUTS("=r", x)
      : "l"((ulong)a), "r"(line)
      : "memory");
  __asm__ volatile(
      "wmma.load.b.sync.aligned.col.m16n16k16.shared.f16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7}, [%8], %9;"
      : EIGHT_OUTPUTS("=r", w)
      : "l"((ulong)b), "r"(line)
      : "memory");
  __asm__ volatile(
      "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 "
      "{%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9,%10,%11,%12,%13,%14,%15}, "
      "{%16,%17,%18,%19,%20,%21,%22,%23}, {%0,%1,%2,%3,%4,%5,%6,%7};"
      : EIGHT_OUTPUTS("+f", s)
      : EIGHT_OUTPUTS("r", x), EIGHT_OUTPUTS("r", w));
}

// Writes the sums to 16 rows of 16.
INLINE void tile_store(const TileSums* sums, local float* to) {
  const float* const s = sums->of;
  __asm__ volatile(
      "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 "
      "[%0], {%1,%2,%3,%4,%5,%6,%7,%8}, 16;"
      :
      : "l"((ulong)to), EIGHT_OUTPUTS("f", s)
      : "memory");
}

#define TILE_MULTIPLY(sums, a, b, line) tile_multiply(sums, a, b, line)
