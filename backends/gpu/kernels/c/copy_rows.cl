// GET_ROWS of rows that the program has computed: a work-item copies LANES
// elements.

#include "common.cl"
#include "some.cl"

#define BUFFERS(INPUT, OUTPUT) \
  COUNTS(INPUT) INPUT(uint, ids) INPUT(float, table) OUTPUT(float, out)
#define PARAMETERS(P)                                                      \
  ROW_PARAMETERS(P) P(uint, width) P(uint, table_symbol) P(uint, first_id) \
  P(uint, piece_rows)
KERNEL(copy_rows) {
  OPEN
  const ulong row = get_global_id(1);
  const int column = COLUMN;
  if (column >= (int)width) return;
  // A number that the table does not have gives its first row.
  const uint id = ids[row] < counts[table_symbol] ? ids[row] : 0;
  if (id < first_id || id - first_id >= piece_rows) return;
  const int count = width - column;
  store_some(load_some(table + (ulong)(id - first_id) * width + column, count),
             out + row * width + column, count);
}
