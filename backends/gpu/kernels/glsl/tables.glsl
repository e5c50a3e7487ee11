// The values of four bits in types that have a table.

// The byte of a table that is given as four words.
int look_up(uvec4 table, uint index) {
  const uint low = (index & 4u) == 0 ? table.x : table.y;
  const uint high = (index & 4u) == 0 ? table.z : table.w;
  const uint word = (index & 8u) == 0 ? low : high;
  return int(word << (24 - (index & 3u) * 8)) >> 24;
}

// The tables of src/tensor/formats/formats.h, each by its name and all by number.
#include "values.glsl"
