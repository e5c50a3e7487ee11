// LINEAR of many rows, by products of matrices (matrices.cl): a group of 128
// work-items has 128 rows of the weight and 64 of x, and each of its four
// sub-groups 64 by 32 of the results. A step takes the columns of a chunk (see
// blocks.cl) in the order in which they are stored, or 32 of a plain type.
//
// A weight is rounded to binary16. A number of x is taken as two, x / 16 rounded
// and the rest, so that it keeps 22 bits unless it is below 1, and may be as
// large as 1e6.
//
// LANES is 1. The sizes are those of gpu/tuning.h.

#include "matrices.cl"

#define MATRIX_OUTPUTS 128
#define MATRIX_ROWS 64
#ifdef PLAIN
#define STEP 32
#else
#define STEP (2 * SPAN)
#endif
// Elements from row to row: whole vectors of 16 bytes, and banks differ.
#define LINE (STEP + 8)
#define ACROSS_TILES 4
#define DOWN_TILES 2
// Numbers of x that a work-item brings.
#define BROUGHT (MATRIX_ROWS * STEP / GROUP_ITEMS)

#define HALVES(name) ((local half*)(name))

// Element i of a step is that of this column.
INLINE int column_of(int step, int i) {
#ifdef PLAIN
  return step * STEP + i;
#else
  const int first = step / CHUNKS * BLOCK + first_of(step % CHUNKS);
  return first + i % SPAN + i / SPAN * APART;
#endif
}

// Puts a row of the weight, whose units begin there, into shared memory.
INLINE void share_weights(Bytes weight, int step, int k, local half* to) {
#ifdef PLAIN
  for (int i = 0; i < STEP; ++i) {
    const int column = step * STEP + i;
    const float w = column < k ? element(BLOCK_AT(weight, column)) : 0.0f;
    vstore_half_rte(w, i, to);
  }
#else
  Bytes block = BLOCK_AT(weight, step / CHUNKS);
  const int chunk = step % CHUNKS;
  float scale[2], offset[2];
  scales(block, chunk, scale, offset);
  for (int l = 0; l < SPAN; ++l) {
    int q0, q1;
    quants(block, chunk, l, &q0, &q1);
    vstore_half_rte(MULTIPLY_ADD(TO_FLOAT(q0), scale[0], offset[0]), l, to);
    vstore_half_rte(MULTIPLY_ADD(TO_FLOAT(q1), scale[1], offset[1]), SPAN + l,
                    to);
  }
#endif
}

#define MATRICES_ROOM                                \
  SHARED ushort w_halves[MATRIX_OUTPUTS * LINE];     \
  SHARED ushort x_high[MATRIX_ROWS * LINE];          \
  SHARED ushort x_low[MATRIX_ROWS * LINE];           \
  SHARED float results[GROUP_ITEMS / SUB_GROUP * TILE_SIDE * TILE_SIDE];

// `tile` is the first of the group's, within the piece of `piece_tiles` at
// `weights`, which begins with tile `first_tile`; row0 is its first row of x.
INLINE void multiply_matrices(
    const global float* x, const global uchar* weights,
    const global float* bias, const global float* residual, global float* out,
    int n, int k, int first_tile, int tile, int piece_tiles, int row0, int rows,
    local half* w_halves, local half* x_high, local half* x_low,
    local float* results) {
  const int item = get_local_id(0);
  const int sub_group = item / SUB_GROUP;
  const int across = sub_group % 2 * (TILE_SIDE * ACROSS_TILES);
  const int down = sub_group / 2 * (TILE_SIDE * DOWN_TILES);
  const ulong tile_bytes = (ulong)(k / BLOCK) * BLOCK_BYTES * TILE;
  // Tiles beyond the last are the last once more, and so are rows.
  const int own_tile = min(tile + item / TILE, piece_tiles - 1);
  Bytes weight = LANE(weights + own_tile * tile_bytes, item % TILE);
  TileSums sums[DOWN_TILES][ACROSS_TILES];
  UNROLL
  for (int j = 0; j < DOWN_TILES; ++j) {
    UNROLL
    for (int i = 0; i < ACROSS_TILES; ++i) tile_clear(&sums[j][i]);
  }
#ifdef PLAIN
  const int steps = (k + STEP - 1) / STEP;
#else
  const int steps = k / BLOCK * CHUNKS;
#endif
  for (int step = 0; step < steps; ++step) {
    barrier(CLK_LOCAL_MEM_FENCE);
    share_weights(weight, step, k, w_halves + item * LINE);
    for (int t = 0; t < BROUGHT; ++t) {
      const int i = t * GROUP_ITEMS + item;
      const int row = min(row0 + i / STEP, rows - 1);
      const int column = column_of(step, i % STEP);
      const float number =
          column < k ? x[(ulong)row * k + column] * 0.0625f : 0.0f;
      const int at = i / STEP * LINE + i % STEP;
      vstore_half_rte(number, at, x_high);
      vstore_half_rte(number - vload_half(at, x_high), at, x_low);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int part = 0; part < STEP; part += TILE_SIDE) {
      UNROLL
      for (int j = 0; j < DOWN_TILES; ++j) {
        const int from = (down + TILE_SIDE * j) * LINE + part;
        UNROLL
        for (int i = 0; i < ACROSS_TILES; ++i) {
          const local half* w =
              w_halves + (across + TILE_SIDE * i) * LINE + part;
          TILE_MULTIPLY(&sums[j][i], x_high + from, w, LINE);
          TILE_MULTIPLY(&sums[j][i], x_low + from, w, LINE);
        }
      }
    }
  }
  local float* mine = results + sub_group * (TILE_SIDE * TILE_SIDE);
  UNROLL
  for (int j = 0; j < DOWN_TILES; ++j) {
    UNROLL
    for (int i = 0; i < ACROSS_TILES; ++i) {
      barrier(CLK_LOCAL_MEM_FENCE);
      tile_store(&sums[j][i], mine);
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int e = item % SUB_GROUP; e < TILE_SIDE * TILE_SIDE;
           e += SUB_GROUP) {
        const int place = across + TILE_SIDE * i + e % TILE_SIDE;
        const int row = row0 + down + TILE_SIDE * j + e / TILE_SIDE;
        const int column = (first_tile + tile) * TILE + place;
        if (row >= rows || column >= n || tile + place / TILE >= piece_tiles) {
          continue;
        }
        const ulong at = (ulong)row * n + column;
        float sum = mine[e] * 16.0f;
        if (bias) sum += bias[column];
        if (residual) sum += residual[at];
        out[at] = sum;
      }
    }
  }
}
