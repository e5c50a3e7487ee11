// MATMUL: a group gives a part of a product. See product.cl.
//
// Defined by the host: TRANSPOSED, 1 if b is, which has rows of any type then;
// TYPE_<name of the type>; ROW_LANES, for tiled.cl, or 0: see matmul_few.cl;
// ROWS, the rows of a work-item.

#include "product.cl"

#if TRANSPOSED
#define DENSE
#define TILE 1
#include "blocks.cl"
#endif

// The right factor, b [k, n] or [n, k].
typedef struct {
  const global uchar* bytes;
  ulong row_bytes;
  int n, k;
} Right;

#if ROW_LANES > 0
#include "matmul_tile.cl"
#else
#include "matmul_few.cl"
#define TILE_ROWS ROWS
#if TRANSPOSED
#define TILE_COLUMNS 1
#else
#define TILE_COLUMNS (GROUP_ITEMS * COLUMNS * LANES)
#endif
#endif

// b_base, b_bytes and b_row_bytes are in bytes, b_bytes from matrix to matrix of
// b. All columns of a, from `begin` to before `end`, are summed at once.
#define BUFFERS(INPUT, OUTPUT)                                     \
  COUNTS(INPUT) INPUT(float, a) INPUT(uchar, b) INPUT(float, bias) \
  OUTPUT(float, out)
#define PARAMETERS(P)                                                    \
  GROUP_PARAMETERS(P) P(uint, a_base) P(uint, b_base) P(uint, bias_base) \
  P(uint, out_base) P(uint, m) P(uint, n) P(uint, k) P(uint, b_bytes)    \
  P(uint, b_row_bytes) P(uint, row_tiles) P(uint, column_tiles)          \
  P(uint, has_bias) P(uint, begin) P(uint, end)
KERNEL(matmul) {
  OPEN
#if ROW_LANES > 0
  TILES
#else
  SHARED float parts[GROUP_ROOM * ROWS];
#endif
  const uint group = GROUP_NUMBER;
  if (NOTHING_TO_DO(group)) return;
  // Neighbouring groups share columns of b.
  const uint matrix = group / row_tiles / column_tiles;
  const int row0 = group % row_tiles * TILE_ROWS;
  const int column0 = group / row_tiles % column_tiles * TILE_COLUMNS;
  const Right right = {b + b_base + (ulong)matrix * b_bytes, b_row_bytes, n, k};
  a += a_base + (ulong)matrix * m * k;
  out += out_base + (ulong)matrix * m * n;
  bias = has_bias ? bias + bias_base : 0;
#if ROW_LANES > 0
  tiled(a, &right, row0, column0, m, n, k, bias, 0, out, a_tile, b_tile,
        get_local_id(0));
#else
  few(a, &right, row0, column0, m, bias, out, get_local_id(0), parts);
#endif
}
