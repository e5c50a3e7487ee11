// LINEAR and EXPERT_LINEAR: a work-item gives LANES neighbouring outputs of
// ROWS rows, 1, 2, 4 or 8.
//
// Whatever ROWS is, each output is summed in the same order: one sum over the
// first weights of the pairs of blocks.cl, one over the second (of plain types,
// over the even and the odd columns), then both together, then bias, then
// residual. With SLICES > 1, for GPUs, that many work-items of a group share
// the columns of an output; the slices are summed in order.
//
// Defined by the host: TILES is 1; EXPERTS, 1 if rows choose matrices; WAY, 2 for
// products of matrices (linear_matrices.cl). x [rows, k], out [rows, n], or a row
// for each choice.

#include "common.cl"
#include "blocks.cl"
#if WAY == 2
#include "linear_matrices.cl"
#endif

// Each row has separate variables, first0, second0, x0 and so on: they have to
// be registers, and not every driver makes registers of arrays.
#if ROWS == 1
#define EACH_ROW(M) M(0)
#elif ROWS == 2
#define EACH_ROW(M) M(0) M(1)
#elif ROWS == 4
#define EACH_ROW(M) M(0) M(1) M(2) M(3)
#else
#define EACH_ROW(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7)
#endif

// Adds the products of a pair of weights, the first of column c.
#define ADD_PRODUCTS(r)                                              \
  first##r = MULTIPLY_ADD(w0, (floatL)(x##r[c]), first##r);          \
  second##r = MULTIPLY_ADD(w1, (floatL)(x##r[c + APART]), second##r);

// bias and residual may be NULL.
INLINE void give(floatL y, int lane, int n, ulong at, const global float* bias,
                 const global float* residual, global float* out) {
  if (lane + LANES <= n) {
    if (bias) y += LOAD(0, bias + lane);
    if (residual) y += LOAD(0, residual + at);
    STORE(y, 0, out + at);
    return;
  }
  float last[LANES];
  STORE(y, 0, last);
  for (int i = 0; i < n - lane; ++i) {
    if (bias) last[i] += bias[lane + i];
    if (residual) last[i] += residual[at + i];
    out[at + i] = last[i];
  }
}

// Work-items along the outputs of a tile.
#define ACROSS (GROUP_ITEMS / SLICES)
// Whether there may be more than one slice.
#ifndef SLICED
#define SLICED (SLICES > 1)
#endif

#define BUFFERS(INPUT, OUTPUT)                                           \
  COUNTS(INPUT) INPUT(float, x) INPUT(uchar, weights) INPUT(float, bias) \
  INPUT(float, residual) INPUT(uint, ids) OUTPUT(float, out)
#define PARAMETERS(P)                                                         \
  ROW_PARAMETERS(P) P(uint, n) P(uint, k) P(uint, groups) P(uint, first_tile) \
  P(uint, piece_tiles) P(uint, tiles) P(uint, experts) P(uint, chosen)        \
  P(uint, x_each) P(uint, has_bias) P(uint, has_residual)
KERNEL(linear) {
  OPEN
  if (!has_bias) bias = 0;
#if WAY == 2
  MATRICES_ROOM
  multiply_matrices(x, weights, bias, has_residual ? residual : 0, out, n, k,
                    first_tile, get_group_id(0) * (MATRIX_OUTPUTS / TILE),
                    piece_tiles, get_global_id(1) * MATRIX_ROWS, ROW_COUNT,
                    HALVES(w_halves), HALVES(x_high), HALVES(x_low), results);
#else
  const int item = get_local_id(0) % ACROSS;
  uint tile = get_group_id(0);
  uint in_piece = tile;
#if EXPERTS
  const int row0 = get_global_id(1) * chosen + get_group_id(2);
  const int rows = row0 + 1;
  // A number that no expert has gives the first.
  const uint expert = ids[row0] < experts ? ids[row0] : 0;
  const uint wanted = expert * tiles + tile;
  if (wanted < first_tile || wanted - first_tile >= piece_tiles) return;
  in_piece = wanted - first_tile;
  if (has_bias) bias += (ulong)expert * n;
  residual = 0;
#define ROW_OF_X(row) (x_each ? (row) : (row) / chosen)
#else
  const int row0 = get_global_id(1) * ROWS;
  const int rows = ROW_COUNT;
  tile += first_tile;
  if (!has_residual) residual = 0;
#define ROW_OF_X(row) (row)
#endif
  const int lane = tile * TILE + item * LANES;
  // Rows beyond the last are the last once more.
#define BEGIN(r)                                                       \
  floatL first##r = 0.0f, second##r = 0.0f;                                \
  const global float* x##r =                                           \
      x + (ulong)ROW_OF_X(min(row0 + r, rows - 1)) * k;
  EACH_ROW(BEGIN)

#if !SLICED
  if (lane >= (int)n) return;
  const int begin = 0;
  const int end = k;
#else
  // Equal slices of whole blocks and an even number of columns; outputs beyond
  // the last have no columns.
  const int unit = BLOCK == 1 ? 2 : BLOCK;
  const int slice = get_local_id(0) / ACROSS;
  const int size = (k + SLICES * unit - 1) / (SLICES * unit) * unit;
  const int limit = lane < (int)n ? k : 0;
  const int begin = min(slice * size, limit);
  const int end = min(begin + size, limit);
#endif
  const ulong tile_bytes = (ulong)(k / BLOCK) * BLOCK_BYTES * TILE;
  Bytes weight = LANE(weights + in_piece * tile_bytes, item * LANES);
#ifdef PLAIN
  int c = begin;
  for (; c + 1 < end; c += 2) {
    const floatL w0 = element(BLOCK_AT(weight, c));
    const floatL w1 = element(BLOCK_AT(weight, c + 1));
    EACH_ROW(ADD_PRODUCTS)
  }
  if (c < end) {
    const floatL w0 = element(BLOCK_AT(weight, c));
#define ADD_LAST(r) first##r = MULTIPLY_ADD(w0, (floatL)(x##r[c]), first##r);
    EACH_ROW(ADD_LAST)
  }
#else
  for (int column = begin; column < end; column += BLOCK) {
    Bytes block = BLOCK_AT(weight, column / BLOCK);
    for (int chunk = 0; chunk < CHUNKS; ++chunk) {
      floatL scale[2], offset[2];
      scales(block, chunk, scale, offset);
      const int at = column + first_of(chunk);
      for (int l = 0; l < SPAN; ++l) {
        const int c = at + l;
        intL q0, q1;
        quants(block, chunk, l, &q0, &q1);
        const floatL w0 = MULTIPLY_ADD(TO_FLOAT(q0), scale[0], offset[0]);
        const floatL w1 = MULTIPLY_ADD(TO_FLOAT(q1), scale[1], offset[1]);
        EACH_ROW(ADD_PRODUCTS)
      }
    }
  }
#endif

#define JOIN_SUMS(r) first##r += second##r;
  EACH_ROW(JOIN_SUMS)
#if SLICED
  SHARED floatL parts[GROUP_ROOM * ROWS];
#define PART(slice, r) parts[((slice) * ACROSS + item) * ROWS + r]
#define GIVE_PART(r) PART(slice, r) = first##r;
  EACH_ROW(GIVE_PART)
  barrier(CLK_LOCAL_MEM_FENCE);
  if (slice != 0 || lane >= (int)n) return;
#define JOIN_PARTS(r) \
  for (int s = 1; s < SLICES; ++s) first##r += PART(s, r);
  EACH_ROW(JOIN_PARTS)
#endif
#define GIVE(r)                                                         \
  if (row0 + r < rows) {                                                \
    give(first##r, lane, n, (ulong)(row0 + r) * n + lane, bias,          \
         residual, out);                                                \
  }
  EACH_ROW(GIVE)
#endif
}
