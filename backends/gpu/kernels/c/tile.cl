// The sizes of a tile of a product, which a group gives: see tiled.cl.
//
// Defined by the host: ROW_LANES, the work-items of a group that lie one below
// the other, each with 4 rows; COLUMNS, the vectors of each, 2 or 4; DEPTH,
// columns of a that are summed at a time.

#define COLUMN_LANES (GROUP_ITEMS / ROW_LANES)
#define TILE_ROWS (ROW_LANES * 4)
#define TILE_COLUMNS (COLUMN_LANES * COLUMNS * LANES)

// Lines of what is in local memory. Without vectors, work-items that go down a
// column would all read one bank.
#define A_LINE (DEPTH + (LANES == 1))
#define B_LINE (TILE_COLUMNS + (LANES == 1))
#define TILES                              \
  SHARED float a_tile[TILE_ROWS * A_LINE]; \
  SHARED float b_tile[DEPTH * B_LINE];
