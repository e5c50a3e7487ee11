// CACHE_STORE: a group stores one vector, a work-item up to 32 elements at a
// time.

#include "common.cl"
#include "cache.cl"

// Elements `first` to before `first + count`; 32 of them of a type with blocks.
INLINE void put(const global float* x, global uchar* to, int first, int count) {
#if CACHE == CACHE_F32
  for (int i = first; i < first + count; ++i) ((global float*)to)[i] = x[i];
#elif CACHE == CACHE_F16
  for (int i = first; i < first + count; ++i) {
    vstore_half_rte(x[i], i, (global half*)to);
  }
#else
  // The scale to the nearest binary16; quants by the scale as it is stored.
  x += first;
  to += first / 32 * 34;
  float largest = 0.0f;
  for (int i = 0; i < 32; ++i) largest = fmax(largest, fabs(x[i]));
  vstore_half_rte(fmin(largest / 127.0f, 65504.0f), 0, (global half*)to);
  const float scale = vload_half(0, (const global half*)to);
  for (int i = 0; i < 32; ++i) {
    const float q = scale > 0.0f ? rint(x[i] / scale) : 0.0f;
    to[2 + i] = convert_char(clamp(isnan(q) ? 0.0f : q, -127.0f, 127.0f));
  }
#endif
}

#define BUFFERS(INPUT, OUTPUT)                                                \
  COUNTS(INPUT) INPUT(float, x) INPUT(uint, positions) INPUT(uint, sequences) \
  INPUT(uint, page_table) OUTPUT(uchar, cache)
#define PARAMETERS(P)                                                   \
  ROW_PARAMETERS(P) P(uint, kv_heads) P(uint, page_size) P(uint, pages) \
  P(uint, entries) P(uint, first_page) P(uint, range_pages) P(uint, d)
KERNEL(cache_store) {
  OPEN
  const ulong row = get_global_id(1);
  const uint head = get_group_id(0);
  const uint position = positions[row];
  // Places that do not exist are left out.
  if (position / page_size >= entries || sequences[row] >= counts[2]) return;
  const Places places = {page_table, entries, page_size, pages, kv_heads};
  const uint page = page_of(&places, sequences[row], position);
  if (page < first_page || page - first_page >= range_pages) return;
  cache += vector_of(&places, page - first_page, position, head) *
           VECTOR_BYTES(d);
  x += (row * kv_heads + head) * d;
  for (int i = 32 * (int)get_local_id(0); i < (int)d; i += 32 * GROUP_ITEMS) {
    put(x, cache, i, min(32, (int)d - i));
  }
}
