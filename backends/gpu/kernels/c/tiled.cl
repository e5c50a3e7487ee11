// MATMUL of large matrices, and CONV2D: a group gives a tile of out. Part by
// part, DEPTH columns of a and rows of b are brought to local memory, b as
// numbers; then each work-item adds to its share of the tile, 4 rows by COLUMNS
// vectors. See product.cl; GROUP_X and GROUP_Y are the work-items of a group.
//
// If b is TRANSPOSED and its type has blocks, columns of a and rows of b are
// taken in the order of chunks and pairs.
//
// CONVOLUTION: a are the weights [outputs, k] of each group of channels. Column
// p of b are the k numbers of x that the window covers at pixel p of out.

#include "common.cl"
#include "product.cl"

#define ROWS 4
#define ITEMS (GROUP_X * GROUP_Y)
#define TILE_ROWS (GROUP_Y * ROWS)
#define TILE_COLUMNS (GROUP_X * COLUMNS * LANES)
// Lines of the tiles. Without vectors, work-items that go down a column would
// all read one bank.
#define A_LINE (DEPTH + (LANES == 1))
#define B_LINE (TILE_COLUMNS + (LANES == 1))

#define EACH_COLUMN_2(M, r) M(r, 0) M(r, 1)
#define EACH_COLUMN_4(M, r) M(r, 0) M(r, 1) M(r, 2) M(r, 3)
#define EACH_COLUMN(M, r) JOIN(EACH_COLUMN_, COLUMNS)(M, r)
#define EACH(M) EACH_COLUMN(M, 0) EACH_COLUMN(M, 1) \
    EACH_COLUMN(M, 2) EACH_COLUMN(M, 3)

#if defined(TRANSPOSED) && !defined(PLAIN)
// Half a chunk of SPAN 32, or a whole one of 16, is a unit of 32 columns.
#define UNITS_PER_CHUNK (SPAN / 16)
#define UNIT_BLOCK(unit) ((unit) / UNITS_PER_CHUNK / CHUNKS)
#define UNIT_CHUNK(unit) ((unit) / UNITS_PER_CHUNK % CHUNKS)
#define UNIT_PAIR(unit) ((unit) % UNITS_PER_CHUNK * 16)
// The column that comes at a place of that order.
INLINE int column_at(int place) {
  const int unit = place / 32;
  return UNIT_BLOCK(unit) * BLOCK + first_of(UNIT_CHUNK(unit)) +
         UNIT_PAIR(unit) + place % 16 + (place % 32 < 16 ? 0 : APART);
}
#else
#define column_at(place) (place)
#endif

// Brings the columns of a from `begin` on.
INLINE void bring_a(local float* tile, Floats a, int row0, int begin, int m,
                    int k, int item) {
  for (int i = item; i < TILE_ROWS * (DEPTH / LANES); i += ITEMS) {
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

#if defined(TRANSPOSED)
// Down a column of the tile.
INLINE void put_down(floatL v, local float* to) {
  float some[LANES];
  STORE(v, 0, some);
  for (int i = 0; i < LANES; ++i) to[i * B_LINE] = some[i];
}

INLINE void bring_b(local float* tile, Bytes b, int column0, int begin, int n,
                    int k, int item, ulong row_bytes) {
#ifdef PLAIN
  for (int i = item; i < TILE_COLUMNS * (DEPTH / LANES); i += ITEMS) {
    const int column = i / (DEPTH / LANES);
    const int line = i % (DEPTH / LANES) * LANES;
    local float* to = tile + line * B_LINE + column;
    Bytes from = BLOCK_AT(b + (column0 + column) * row_bytes, begin + line);
    const int count =
        column0 + column < n ? clamp(k - begin - line, 0, LANES) : 0;
    if (count == LANES) {
      put_down(element(from), to);
    } else {
      for (int j = 0; j < LANES; ++j) {
        to[j * B_LINE] = j < count ? one_element(BLOCK_AT(from, j)) : 0.0f;
      }
    }
  }
#else
  for (int i = item; i < TILE_COLUMNS * (DEPTH / 32); i += ITEMS) {
    const int column = i / (DEPTH / 32);
    const int line = i % (DEPTH / 32) * 32;
    const int unit = (begin + line) / 32;
    local float* to = tile + line * B_LINE + column;
    if (column0 + column >= n || unit >= k / 32) {
      for (int l = 0; l < 32; ++l) to[l * B_LINE] = 0.0f;
      continue;
    }
    Bytes block =
        BLOCK_AT(b + (column0 + column) * row_bytes, UNIT_BLOCK(unit));
    floatL scale[2], offset[2];
    scales(block, UNIT_CHUNK(unit), scale, offset);
    for (int l = 0; l < 16; l += LANES) {
      intL q0, q1;
      quants(block, UNIT_CHUNK(unit), UNIT_PAIR(unit) + l, &q0, &q1);
      put_down(MULTIPLY_ADD(TO_FLOAT(q0), scale[0], offset[0]),
               to + l * B_LINE);
      put_down(MULTIPLY_ADD(TO_FLOAT(q1), scale[1], offset[1]),
               to + (16 + l) * B_LINE);
    }
  }
#endif
}

#elif defined(CONVOLUTION)
typedef struct {
  int height, width, kh, kw, out_width;
  int stride[2], padding[2], dilation[2];
} Window;

INLINE void bring_pixels(local float* tile, Floats x, int column0, int begin,
                         int n, int k, int item, const Window* window) {
  for (int i = item; i < DEPTH * (TILE_COLUMNS / LANES); i += ITEMS) {
    const int line = i / (TILE_COLUMNS / LANES);
    const int column = i % (TILE_COLUMNS / LANES) * LANES;
    local float* to = tile + line * B_LINE + column;
    const int place = begin + line;
    const int v = place % window->kw * window->dilation[1] - window->padding[1];
    const int u = place / window->kw % window->kh * window->dilation[0] -
                  window->padding[0];
    Floats plane = x + (ulong)(place / window->kw / window->kh) *
                           window->height * window->width;
    int down = (column0 + column) / window->out_width;
    int across = (column0 + column) % window->out_width;
    const int count = place < k ? clamp(n - column0 - column, 0, LANES) : 0;
    for (int j = 0; j < LANES; ++j) {
      const int row = down * window->stride[0] + u;
      const int at = across * window->stride[1] + v;
      const bool inside = j < count && row >= 0 && row < window->height &&
                          at >= 0 && at < window->width;
      to[j] = inside ? plane[(ulong)row * window->width + at] : 0.0f;
      if (++across == window->out_width) {
        across = 0;
        ++down;
      }
    }
  }
}

#else
INLINE void bring_b(local float* tile, Bytes b, int column0, int begin, int n,
                    int k, int item, ulong row_bytes) {
  for (int i = item; i < DEPTH * (TILE_COLUMNS / LANES); i += ITEMS) {
    const int line = i / (TILE_COLUMNS / LANES);
    const int column = i % (TILE_COLUMNS / LANES) * LANES;
    floatL some = 0.0f;
    if (begin + line < k && column0 + column < n) {
      some = load_some((Floats)b + (ulong)(begin + line) * n + column0 + column,
                       n - column0 - column);
    }
    STORE(some, 0, tile + line * B_LINE + column);
  }
}
#endif

kernel __attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, 1))) void
tiled(PRODUCT_PARAMETERS
#ifdef CONVOLUTION
      , int4 sizes, int out_width, int2 stride, int2 padding, int2 dilation
#endif
) {
  local float a_tile[TILE_ROWS * A_LINE];
  local float b_tile[DEPTH * B_LINE];
  const int x = get_local_id(0);
  const int y = get_local_id(1);
  const int item = y * GROUP_X + x;
  const int blocks = (m + TILE_ROWS - 1) / TILE_ROWS;
  const int group_row = get_global_id(1) / GROUP_Y;
  const int row0 = group_row % blocks * TILE_ROWS;
  const int column0 = get_global_id(0) / GROUP_X * TILE_COLUMNS;
  BEGIN_PRODUCT(group_row / blocks)
#ifdef CONVOLUTION
  const Window window = {sizes.x, sizes.y, sizes.z, sizes.w, out_width,
                         {stride.x, stride.y}, {padding.x, padding.y},
                         {dilation.x, dilation.y}};
#endif
#define BEGIN(r, c) floatL sum##r##c = 0.0f;
  EACH(BEGIN)
  for (int begin = 0; begin < k; begin += DEPTH) {
    bring_a(a_tile, a, row0, begin, m, k, item);
#ifdef CONVOLUTION
    bring_pixels(b_tile, (Floats)b, column0, begin, n, k, item, &window);
#else
    bring_b(b_tile, b, column0, begin, n, k, item, b_row_bytes);
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    const local float* from_a = a_tile + y * ROWS * A_LINE;
    const local float* from_b = b_tile + x * LANES;
    const int end = min(DEPTH, k - begin);
    for (int i = 0; i < end; ++i) {
#define A(r) (floatL)(from_a[r * A_LINE + i])
#define B(c) LOAD(0, from_b + i * B_LINE + c * GROUP_X * LANES)
      const floatL b0 = B(0), b1 = B(1);
#if COLUMNS == 4
      const floatL b2 = B(2), b3 = B(3);
#endif
#define MULTIPLY(r, c) sum##r##c = MULTIPLY_ADD(a##r, b##c, sum##r##c);
#define ROW(r)                 \
  {                            \
    const floatL a##r = A(r);  \
    EACH_COLUMN(MULTIPLY, r)   \
  }
      ROW(0) ROW(1) ROW(2) ROW(3)
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  // In one loop: compilers take seconds for many copies of what is done here.
  floatL sums[ROWS * COLUMNS];
#define KEEP(r, c) sums[r * COLUMNS + c] = sum##r##c;
  EACH(KEEP)
#pragma unroll 1
  for (int i = 0; i < ROWS * COLUMNS; ++i) {
    const int row = row0 + y * ROWS + i / COLUMNS;
    const int column = column0 + (i % COLUMNS * GROUP_X + x) * LANES;
    if (row < m && column < n) {
      give(sums[i], n - column, row, column, n, bias, out, flags);
    }
  }
}
