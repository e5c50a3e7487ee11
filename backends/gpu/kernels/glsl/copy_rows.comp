#version 450
#extension GL_GOOGLE_include_directive : require
// GET_ROWS of rows that the program has computed.
#include "common.glsl"

INPUT(1, ids)
INPUT(2, table)
OUTPUT(8, uint, y)

PARAMETERS {
  ROW_PARAMETERS
  uint k;
  uint table_symbol;  // the number of rows that there are
  uint first_id;      // of the piece of the table that is bound
  uint piece_rows;
}
p;

void main() {
  const uint row = gl_WorkGroupID.y;
  const uint column = COLUMN_GROUP * kLanes + gl_LocalInvocationIndex;
  if (row >= ROW_COUNT || column >= p.k) return;
  const uint id = WORD(ids, row);
  if (id >= counts[p.table_symbol] || id < p.first_id ||
      id - p.first_id >= p.piece_rows) {
    return;
  }
  y[row * p.k + column] = WORD(table, (id - p.first_id) * p.k + column);
}
