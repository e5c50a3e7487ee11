#version 450
#extension GL_GOOGLE_include_directive : require
// CONVERT to F32, and GET_ROWS of tensors: a lane has elements of the output.
#include "tensor.glsl"
#include "math.glsl"
#include "tables.glsl"

CONSTANT(4, bool, kGather, false)

INPUT(1, numbers)
INPUT(2, ids)
OUTPUT(8, float, y)
OUTPUT(9, uint, fault)  // see Slots in gpu/kernel.h

#include "numbers.glsl"

PARAMETERS {
  GROUP_PARAMETERS
  uint x_base;  // in bytes
  uint ids_base;
  uint y_base;
  uint count;
  uint columns;
  uint row_bytes;
  uint rows;  // of the table
  uint op;
}
p;

const uint kEach = 8;  // elements of a lane

void main() {
  const uint group = GROUP;
  if (NOTHING_TO_DO(group)) return;
  const uint begin = group * kLanes * kEach;
  const uint end = min(begin + kLanes * kEach, p.count);
  for (uint i = begin + gl_LocalInvocationIndex; i < end; i += kLanes) {
    const uint column = i % p.columns;
    uint row = i / p.columns;
    if (kGather) {
      const uint place = row;
      row = WORD(ids, p.ids_base + place);
      if (row >= p.rows) {
        if (atomicCompSwap(fault[0], 0, p.op + 1) == 0) {
          fault[1] = place;
          fault[2] = row;
        }
        continue;
      }
    }
    y[p.y_base + i] = number(p.x_base + row * p.row_bytes, column);
  }
}
