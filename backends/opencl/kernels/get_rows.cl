// GET_ROWS. A work-item decodes one chunk of one row (LANES is 1), or one
// element of a plain type. Every element is rounded as the format says.
//
// x [n, d] has tiles of tile_bytes.

#include "common.cl"
#include "blocks.cl"

#ifdef PLAIN
#define ITEMS_PER_BLOCK 1
#else
#define ITEMS_PER_BLOCK CHUNKS

INLINE float exact(int quant, float scale, float offset) {
#ifdef MINIMUMS
  const float product = convert_float(quant) * scale;
  return product + offset;
#else
  return fma(convert_float(quant), scale, offset);
#endif
}
#endif

kernel void get_rows(Bytes table, ulong tile_bytes, int n, int d,
                     const global int* ids, ulong ids_at, global float* out,
                     ulong out_at) {
  const int block = get_global_id(0) / ITEMS_PER_BLOCK;
  const size_t row = get_global_id(1);
  if (block >= d / BLOCK) return;
  // A number that the table does not have gives its first row.
  const uint asked = ids[ids_at + row];
  const uint id = asked < (uint)n ? asked : 0;
  Bytes p = LANE(table + id / TILE * tile_bytes, id % TILE);
  p = BLOCK_AT(p, block);
  global float* to = out + out_at + row * d + block * BLOCK;
#ifdef PLAIN
  *to = element(p);
#else
  const int chunk = get_global_id(0) % CHUNKS;
  float scale[2], offset[2];
  scales(p, chunk, scale, offset);
  to += first_of(chunk);
  for (int l = 0; l < SPAN; ++l) {
    int first, second;
    quants(p, chunk, l, &first, &second);
    to[l] = exact(first, scale[0], offset[0]);
    to[l + APART] = exact(second, scale[1], offset[1]);
  }
#endif
}
