// A tile of a product: part by part, columns of a and rows of b are brought to
// local memory, b as numbers; then each work-item adds to its share of the tile,
// 4 rows by COLUMNS vectors. See tile.cl and product.cl.
//
// The including file defines column_at(place), the column of a that is taken at
// a place of the sum; a type Right, for b; and
//   void bring_b(local float* tile, const Right* b, int column0, int begin,
//                int item)
// which brings the rows of b at the places from `begin` on, and of them the
// columns from column0 on.

#define EACH_COLUMN_2(M, r) M(r, 0) M(r, 1)
#define EACH_COLUMN_4(M, r) M(r, 0) M(r, 1) M(r, 2) M(r, 3)
#define EACH_COLUMN(M, r) JOIN(EACH_COLUMN_, COLUMNS)(M, r)
#define EACH(M) EACH_COLUMN(M, 0) EACH_COLUMN(M, 1) \
    EACH_COLUMN(M, 2) EACH_COLUMN(M, 3)

// Brings the columns of a from `begin` on.
INLINE void bring_a(local float* tile, Floats a, int row0, int begin, int m,
                    int k, int item) {
  for (int i = item; i < TILE_ROWS * (DEPTH / LANES); i += GROUP_ITEMS) {
    const int row = i / (DEPTH / LANES);
    const int place = begin + i % (DEPTH / LANES) * LANES;
    floatL some = 0.0f;
    if (row0 + row < m && place < k) {
      some = load_some(a + (ulong)(row0 + row) * k + column_at(place),
                       k - place);
    }
    STORE(some, 0, tile + row * A_LINE + place - begin);
  }
}

INLINE void tiled(Floats a, const Right* b, int row0, int column0, int m, int n,
                  int k, Floats column_bias, Floats row_bias,
                  global float* out, local float* a_tile, local float* b_tile,
                  int item) {
  const int x = item % COLUMN_LANES;
  const int y = item / COLUMN_LANES;
#define BEGIN(r, c) floatL sum##r##c = 0.0f;
  EACH(BEGIN)
  for (int begin = 0; begin < k; begin += DEPTH) {
    bring_a(a_tile, a, row0, begin, m, k, item);
    bring_b(b_tile, b, column0, begin, item);
    barrier(CLK_LOCAL_MEM_FENCE);
    const local float* from_a = a_tile + y * 4 * A_LINE;
    const local float* from_b = b_tile + x * LANES;
    const int end = min(DEPTH, k - begin);
    for (int i = 0; i < end; ++i) {
#define A(r) (floatL)(from_a[r * A_LINE + i])
#define B(c) LOAD(0, from_b + i * B_LINE + c * COLUMN_LANES * LANES)
      const floatL b0 = B(0), b1 = B(1);
#if COLUMNS == 4
      const floatL b2 = B(2), b3 = B(3);
#endif
#define MULTIPLY(r, c) sum##r##c = MULTIPLY_ADD(a##r, b##c, sum##r##c);
#define ROW(r)                \
  {                           \
    const floatL a##r = A(r); \
    EACH_COLUMN(MULTIPLY, r)  \
  }
      ROW(0) ROW(1) ROW(2) ROW(3)
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  // In one loop: compilers take seconds for many copies of what is done here.
  floatL sums[4 * COLUMNS];
#define KEEP(r, c) sums[r * COLUMNS + c] = sum##r##c;
  EACH(KEEP)
#pragma unroll 1
  for (int i = 0; i < 4 * COLUMNS; ++i) {
    const int row = row0 + y * 4 + i / COLUMNS;
    const int column = column0 + (i % COLUMNS * COLUMN_LANES + x) * LANES;
    if (row < m && column < n) {
      give(sums[i], n - column, row, column, n, column_bias, row_bias, out);
    }
  }
}
