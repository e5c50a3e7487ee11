// GET_ROWS of a weight: a work-item decodes 32 columns of a row, or a whole
// chunk of a block. LANES is 1.

#include "common.cl"
#include "blocks.cl"
#include "decode_chunk.cl"

#define BUFFERS(INPUT, OUTPUT) \
  COUNTS(INPUT) INPUT(uint, ids) INPUT(uchar, table) OUTPUT(float, out)
#define PARAMETERS(P)                                              \
  ROW_PARAMETERS(P) P(uint, table_rows) P(uint, d) P(uint, groups) \
  P(uint, first_tile) P(uint, piece_tiles)
KERNEL(get_rows) {
  OPEN
  const ulong row = get_global_id(1);
  const uint group = COLUMN;
  // A number that the table does not have gives its first row.
  const uint id = ids[row] < table_rows ? ids[row] : 0;
  const uint tile = id / TILE;
  if (tile < first_tile || tile - first_tile >= piece_tiles) return;
  const ulong tile_bytes = (ulong)(d / BLOCK) * BLOCK_BYTES * TILE;
  Bytes p = LANE(table + (tile - first_tile) * tile_bytes, id % TILE);
  out += row * d;
#ifdef PLAIN
  const uint end = min(32 * (group + 1), d);
  for (uint i = 32 * group; i < end; ++i) out[i] = element(BLOCK_AT(p, i));
#else
  const uint block = group / CHUNKS;
  if (block >= d / BLOCK) return;
  decode_chunk(BLOCK_AT(p, block), group % CHUNKS, out + block * BLOCK);
#endif
}
