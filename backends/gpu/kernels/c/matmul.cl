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
KERNEL(matmul)
(COUNTS, INPUT(a), INPUT(b), INPUT(bias), OUTPUT(out), GROUP_PARAMETERS,
 uint a_base, uint b_base, uint bias_base, uint out_base, uint m, uint n,
 uint k, uint b_bytes, uint b_row_bytes, uint row_tiles, uint column_tiles,
 uint has_bias, uint begin, uint end) {
  OPEN_INPUT(float, a)
  OPEN_INPUT(uchar, b)
  OPEN_INPUT(float, bias)
  OPEN_OUTPUT(float, out)
#if ROW_LANES > 0
  TILES
#else
  SHARED float parts[GROUP_ITEMS * ROWS];
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
