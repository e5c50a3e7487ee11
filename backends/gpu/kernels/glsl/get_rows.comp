#version 450
#extension GL_GOOGLE_include_directive : require
// GET_ROWS of a weight: each lane decodes a group of 32 columns.
#include "common.glsl"
#include "blocks.glsl"

INPUT(1, ids)
OUTPUT(8, float, y)

PARAMETERS {
  ROW_PARAMETERS
  uint table_rows;
  uint k;
  uint groups;
  uint first_tile;  // of the piece of the table that is bound
  uint piece_tiles;
}
p;

void main() {
  const uint row = gl_WorkGroupID.y;
  if (row >= ROW_COUNT) return;
  const uint id = WORD(ids, row);
  if (id >= p.table_rows) return;
  const uint tile = id / kTileRows;
  if (tile < p.first_tile || tile - p.first_tile >= p.piece_tiles) return;
  const uint group = COLUMN_GROUP * kLanes + gl_LocalInvocationIndex;
  if (group >= p.groups) return;
  const Raw raw =
      read_group(tile - p.first_tile, id % kTileRows, group, p.groups);
  [[unroll]] for (uint e = 0; e < 32; ++e) {
    if (group * 32 + e < p.k) {
      precise float value = element(raw, e) * raw.scale[e / 16];
      if (kHasMinimum) value = value + raw.minimum[e / 16];
      y[row * p.k + group * 32 + e] = value;
    }
  }
}
