// GET_ROWS of tensors. A work-item decodes one chunk of one row (LANES is 1), or one
// element of a plain type.
//
// The table [n, d] begins at byte table_at, a row of it has row_bytes. TILE is 1.

#include "common.cl"
#include "blocks.cl"
#include "decode_chunk.cl"

kernel void gather(Bytes table, ulong table_at, ulong row_bytes, int n, int d,
                   const global int* ids, ulong ids_at,
                     global float* out, ulong out_at) {
  const int block = get_global_id(0) / ITEMS_PER_BLOCK;
  const size_t row = get_global_id(1);
  if (block >= d / BLOCK) return;
  // A number that the table does not have gives its first row.
  const uint asked = ids[ids_at + row];
  const uint id = asked < (uint)n ? asked : 0;
  Bytes p = table + table_at + id * row_bytes;
  decode_chunk(BLOCK_AT(p, block), get_global_id(0) % ITEMS_PER_BLOCK,
               out + out_at + row * d + block * BLOCK);
}
