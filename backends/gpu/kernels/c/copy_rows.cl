// GET_ROWS of rows that the program has computed: a work-item copies LANES
// elements.

#include "common.cl"
#include "some.cl"

KERNEL(copy_rows)
(COUNTS, INPUT(ids), INPUT(table), OUTPUT(out), ROW_PARAMETERS, uint width,
 uint table_symbol, uint first_id, uint piece_rows) {
  OPEN_COUNTS
  OPEN_INPUT(uint, ids)
  OPEN_INPUT(float, table)
  OPEN_OUTPUT(float, out)
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
