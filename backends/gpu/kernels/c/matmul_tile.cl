// Loads the right factor of MATMUL into tiles. If it is TRANSPOSED and its type
// has blocks, the columns of a are taken in the order of chunks and pairs.

#include "tile.cl"

#if TRANSPOSED && !defined(PLAIN)
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

#if TRANSPOSED
// Down a column of the tile.
INLINE void put_down(floatL v, local float* to) {
  float some[LANES];
  STORE(v, 0, some);
  for (int i = 0; i < LANES; ++i) to[i * B_LINE] = some[i];
}

INLINE Bytes row_of(const Right* b, int row) {
  return b->bytes + (ulong)row * b->row_bytes;
}

INLINE void bring_b(local float* tile, const Right* b, int column0, int begin,
                    int item) {
#ifdef PLAIN
  for (int i = item; i < TILE_COLUMNS * (DEPTH / LANES); i += GROUP_ITEMS) {
    const int column = i / (DEPTH / LANES);
    const int line = i % (DEPTH / LANES) * LANES;
    local float* to = tile + line * B_LINE + column;
    Bytes from = BLOCK_AT(row_of(b, column0 + column), begin + line);
    const int count =
        column0 + column < b->n ? clamp(b->k - begin - line, 0, LANES) : 0;
    if (count == LANES) {
      put_down(element(from), to);
    } else {
      for (int j = 0; j < LANES; ++j) {
        to[j * B_LINE] = j < count ? one_element(BLOCK_AT(from, j)) : 0.0f;
      }
    }
  }
#else
  for (int i = item; i < TILE_COLUMNS * (DEPTH / 32); i += GROUP_ITEMS) {
    const int column = i / (DEPTH / 32);
    const int line = i % (DEPTH / 32) * 32;
    const int unit = (begin + line) / 32;
    local float* to = tile + line * B_LINE + column;
    if (column0 + column >= b->n || unit >= b->k / 32) {
      for (int l = 0; l < 32; ++l) to[l * B_LINE] = 0.0f;
      continue;
    }
    Bytes block = BLOCK_AT(row_of(b, column0 + column), UNIT_BLOCK(unit));
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


#else
INLINE void bring_b(local float* tile, const Right* b, int column0, int begin,
                    int item) {
  for (int i = item; i < DEPTH * (TILE_COLUMNS / LANES); i += GROUP_ITEMS) {
    const int line = i / (TILE_COLUMNS / LANES);
    const int column = i % (TILE_COLUMNS / LANES) * LANES;
    floatL some = 0.0f;
    if (begin + line < b->k && column0 + column < b->n) {
      Floats row = (Floats)b->bytes + (ulong)(begin + line) * b->n;
      some = load_some(row + column0 + column, b->n - column0 - column);
    }
    STORE(some, 0, tile + line * B_LINE + column);
  }
}
#endif

#include "tiled.cl"
