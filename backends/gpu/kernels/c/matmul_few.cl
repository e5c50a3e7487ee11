// Products without tiles: a group gives ROWS rows, 1 or 4, of one column if b is
// TRANSPOSED; else a work-item does, of COLUMNS vectors. See product.cl.

#if ROWS == 1
#define EACH_ROW(M) M(0)
#else
#define EACH_ROW(M) M(0) M(1) M(2) M(3)
#endif

// Rows beyond the last are the last once more.
#define BEGIN_ROW(r) Floats a##r = a + (ulong)min(row0 + r, m - 1) * k;

#if TRANSPOSED

#define BEGIN_SUMS(r) floatL first##r = 0.0f, second##r = 0.0f;
#define ADD(r, sum, w, column) \
  sum##r = MULTIPLY_ADD(w, LOAD(0, a##r + (column)), sum##r);
#define ADD_FIRST(r) ADD(r, first, w0, c)
#define ADD_SECOND(r) ADD(r, second, w1, c + APART)

// `parts` has room for ROWS numbers of each item. No item returns early: PoCL
// loses what the others have kept over a barrier in an inlined function.
INLINE void few(Floats a, const Right* right, int row0, int column, int m,
                Floats bias, global float* out, int item, local float* parts) {
  const int n = right->n;
  const int k = right->k;
  Bytes b = right->bytes + (ulong)column * right->row_bytes;
  EACH_ROW(BEGIN_ROW)
  EACH_ROW(BEGIN_SUMS)
#ifdef PLAIN
  int c = item * LANES;
  for (; c + LANES <= k; c += GROUP_ITEMS * LANES) {
    const floatL w0 = element(BLOCK_AT(b, c));
    EACH_ROW(ADD_FIRST)
  }
#else
  for (int i = item; i < k / BLOCK * CHUNKS; i += GROUP_ITEMS) {
    Bytes block = BLOCK_AT(b, i / CHUNKS);
    const int chunk = i % CHUNKS;
    floatL scale[2], offset[2];
    scales(block, chunk, scale, offset);
    for (int l = 0; l < SPAN; l += LANES) {
      intL q0, q1;
      quants(block, chunk, l, &q0, &q1);
      const floatL w0 = MULTIPLY_ADD(TO_FLOAT(q0), scale[0], offset[0]);
      const floatL w1 = MULTIPLY_ADD(TO_FLOAT(q1), scale[1], offset[1]);
      const int c = i / CHUNKS * BLOCK + first_of(chunk) + l;
      EACH_ROW(ADD_FIRST)
      EACH_ROW(ADD_SECOND)
    }
  }
#endif
#define JOIN_SUMS(r) float sum##r = lane_sum(first##r + second##r);
  EACH_ROW(JOIN_SUMS)
#ifdef PLAIN
  // The columns that make no vector are the next item's.
  if (c == k / LANES * LANES) {
    for (; c < k; ++c) {
      const float w = one_element(BLOCK_AT(b, c));
#define ADD_LAST(r) sum##r = MULTIPLY_ADD(w, a##r[c], sum##r);
      EACH_ROW(ADD_LAST)
    }
  }
#endif
#if GROUP_ROOM > 1
#define GIVE_PART(r) parts[item * ROWS + r] = sum##r;
  EACH_ROW(GIVE_PART)
  barrier(CLK_LOCAL_MEM_FENCE);
#define JOIN_PARTS(r) \
  for (int i = 1; i < GROUP_ITEMS; ++i) sum##r += parts[i * ROWS + r];
  EACH_ROW(JOIN_PARTS)
#endif
#define GIVE(r)                                                   \
  if (item == 0 && row0 + r < m) {                                \
    give((floatL)(sum##r), 1, row0 + r, column, n, bias, 0, out); \
  }
  EACH_ROW(GIVE)
}

#else

#if COLUMNS == 1
#define EACH_VECTOR(M) M(0)
#elif COLUMNS == 2
#define EACH_VECTOR(M) M(0) M(1)
#else
#define EACH_VECTOR(M) M(0) M(1) M(2) M(3)
#endif

// For each row of each vector.
#define WITH_ROWS_1(M, v) M(0, v)
#define WITH_ROWS_4(M, v) M(0, v) M(1, v) M(2, v) M(3, v)
#define WITH_ROWS(M, v) JOIN(WITH_ROWS_, ROWS)(M, v)

// `first` is the first column of the group.
INLINE void few(Floats a, const Right* right, int row0, int first, int m,
                Floats bias, global float* out, int item, local float* parts) {
  const int n = right->n;
  const int k = right->k;
  const int column = first + item * (COLUMNS * LANES);
  if (column >= n) return;
  const int count = n - column;
  EACH_ROW(BEGIN_ROW)
#define BEGIN_SUM(r, v) floatL sum##r##v = 0.0f;
#define BEGIN_SUMS(v) WITH_ROWS(BEGIN_SUM, v)
  EACH_VECTOR(BEGIN_SUMS)
  Floats from = (Floats)right->bytes + column;
  for (int i = 0; i < k; ++i, from += n) {
#define ADD(r, v) sum##r##v = MULTIPLY_ADD(w, (floatL)(a##r[i]), sum##r##v);
#define ADD_VECTOR(v)                                                    \
  {                                                                      \
    const floatL w = load_some(from + v * LANES, count - v * LANES);     \
    WITH_ROWS(ADD, v)                                                    \
  }
    EACH_VECTOR(ADD_VECTOR)
  }
#define GIVE(r, v)                                                      \
  if (row0 + r < m && count > v * LANES) {                              \
    give(sum##r##v, count - v * LANES, row0 + r, column + v * LANES, n, \
         bias, 0, out);                                                 \
  }
#define GIVE_VECTOR(v) WITH_ROWS(GIVE, v)
  EACH_VECTOR(GIVE_VECTOR)
}

#endif
