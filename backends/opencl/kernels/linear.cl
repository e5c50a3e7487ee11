// LINEAR and EXPERT_LINEAR: a work-item gives LANES neighbouring outputs of
// ROWS rows, 1, 2, 4 or 8.
//
// Whatever ROWS is, each output is summed in the same order: one sum over the
// first weights of the pairs of blocks.cl, one over the second (of plain types,
// over the even and the odd columns), then both together, then bias, then
// residual. With SLICES > 1, for GPUs, that many work-items of a group share
// the columns of an output; the slices are summed in order.
//
// counts: see common.cl; counts[which] is the number of rows.
// x [rows, k], weight tiles of tile_bytes, out [rows, n].

#include "common.cl"
#include "blocks.cl"

// Bits of flags.
#define HAS_BIAS 1
#define HAS_RESIDUAL 2
#define X_PER_CHOICE 4  // x has a row for each chosen expert

// Each row has variables of its own, first0, second0, x0 and so on: they have
// to be registers, and not every driver makes registers of arrays.
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

#ifdef EXPERTS
#define ROW_OF_X(row) (flags & X_PER_CHOICE ? (row) : (row) / chosen)
#else
#define ROW_OF_X(row) (row)
#endif

INLINE void give(floatL y, int lane, int n, ulong at, int flags,
                 const global float* bias, const global float* residual,
                 global float* out) {
  if (lane + LANES <= n) {
    if (flags & HAS_BIAS) y += LOAD(0, bias + lane);
    if (flags & HAS_RESIDUAL) y += LOAD(0, residual + at);
    STORE(y, 0, out + at);
    return;
  }
  float last[LANES];
  STORE(y, 0, last);
  for (int i = 0; i < n - lane; ++i) {
    if (flags & HAS_BIAS) last[i] += bias[lane + i];
    if (flags & HAS_RESIDUAL) last[i] += residual[at + i];
    out[at + i] = last[i];
  }
}

kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, SLICES, 1))) void
linear(Bytes weight, ulong tile_bytes, int n, int k,
       const global float* x, ulong x_at, const global float* bias,
       const global float* residual, ulong residual_at, global float* out,
       ulong out_at, int flags, const global int* counts, int which
#ifdef EXPERTS
       , const global int* ids, ulong ids_at, int chosen, int experts,
       ulong expert_bytes
#endif
) {
  const int lane = get_global_id(0) * LANES;
  const int row0 = get_global_id(1) / SLICES * ROWS;
#ifdef EXPERTS
  const int rows = counts[which] * chosen;
  // A number that no expert has gives the first.
  const uint asked = ids[ids_at + row0];
  const ulong expert = asked < (uint)experts ? asked : 0;
  weight += expert * expert_bytes;
  if (flags & HAS_BIAS) bias += expert * n;
#else
  const int rows = counts[which];
#endif
  // Rows beyond the last are the last once more.
#define BEGIN(r)                                                       \
  floatL first##r = 0.0f, second##r = 0.0f;                                \
  const global float* x##r =                                           \
      x + x_at + (ulong)ROW_OF_X(min(row0 + r, rows - 1)) * k;
  EACH_ROW(BEGIN)

#if SLICES == 1
  if (lane >= n) return;
  const int begin = 0;
  const int end = k;
#else
  // Equal slices of whole blocks and an even number of columns; outputs beyond
  // the last have no columns.
  const int unit = BLOCK == 1 ? 2 : BLOCK;
  const int slice = get_local_id(1);
  const int size = (k + SLICES * unit - 1) / (SLICES * unit) * unit;
  const int limit = lane < n ? k : 0;
  const int begin = min(slice * size, limit);
  const int end = min(begin + size, limit);
#endif
  weight = LANE(weight + (lane < n ? lane / TILE : 0) * tile_bytes,
                lane % TILE);
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
#if SLICES > 1
  local floatL parts[SLICES][GROUP_ITEMS][ROWS];
  const int item = get_local_id(0);
#define GIVE_PART(r) parts[slice][item][r] = first##r;
  EACH_ROW(GIVE_PART)
  barrier(CLK_LOCAL_MEM_FENCE);
  if (slice != 0 || lane >= n) return;
#define JOIN_PARTS(r) \
  for (int s = 1; s < SLICES; ++s) first##r += parts[s][item][r];
  EACH_ROW(JOIN_PARTS)
#endif
  residual += residual_at;
  out += out_at;
#define GIVE(r)                                                         \
  if (row0 + r < rows) {                                                \
    give(first##r, lane, n, (ulong)(row0 + r) * n + lane, flags, bias,   \
         residual, out);                                                \
  }
  EACH_ROW(GIVE)
}
