// CACHE_STORE: a work-item stores up to 32 elements of one head of one row.

#include "common.cl"
#include "cache.cl"

kernel void cache_store(const global float* x, ulong x_at,
                        const global int* positions, ulong positions_at,
                        const global int* sequences, ulong sequences_at,
                        const global int* table, ulong table_at,
                        global uchar* cache, int entries, int page_size,
                        int pages, int kv_heads, const global int* counts) {
  const int parts = (HEAD + 31) / 32;
  const int head = get_global_id(0) / parts;
  const int first = get_global_id(0) % parts * 32;
  const ulong row = get_global_id(1);
  if (head >= kv_heads) return;
  const int position = positions[positions_at + row];
  const uint sequence = sequences[sequences_at + row];
  // Places that do not exist are left out.
  if (position < 0 || position / page_size >= entries ||
      sequence >= (uint)counts[2]) {
    return;
  }
  const Places places = {table + table_at, entries, page_size, pages, kv_heads};
  global uchar* to = cache + place_of(&places, sequence, position, head);
  x += x_at + (row * kv_heads + head) * HEAD + first;
  const int count = min(32, HEAD - first);
#if defined(CACHE_F32)
  for (int i = 0; i < count; ++i) ((global float*)to)[first + i] = x[i];
#elif defined(CACHE_F16)
  for (int i = 0; i < count; ++i) {
    vstore_half_rte(x[i], first + i, (global half*)to);
  }
#else
  // The scale to the nearest binary16; quants by the scale as it is stored.
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
