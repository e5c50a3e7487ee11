#version 450
#extension GL_GOOGLE_include_directive : require
// MATMUL: a work-group has a tile of the output. Every element is summed by the
// number of the column of a, whatever the tile.
//
// With texels a lane has kColumns columns of kRows rows, and elements of a go
// from lane to lane; otherwise the lanes are kRowLanes rows of lanes and load
// strips of a and b into shared memory.
#include "tensor.glsl"
#include "math.glsl"
#include "tables.glsl"
#include "functions.glsl"

CONSTANT(4, bool, kTransposed, false)
CONSTANT(5, uint, kFunction, 0)  // RC_FUNCTION_*
CONSTANT(6, uint, kRows, 8)  // of a lane
CONSTANT(7, uint, kColumns, 4)  // of a lane
CONSTANT(8, uint, kRowLanes, 1)
// Rows of b, which is F32, begin at whole quads; kColumns is 4.
CONSTANT(9, bool, kQuads, false)

INPUT(1, a)
INPUT(2, numbers)  // b
INPUT(3, bias)
INPUT_QUADS(4, b_quads)
OUTPUT(8, float, y)

#include "numbers.glsl"

PARAMETERS {
  GROUP_PARAMETERS
  uint a_base;
  uint b_base;  // in bytes
  uint bias_base;
  uint y_base;
  uint m;
  uint n;
  uint k;
  uint b_bytes;      // from matrix to matrix of b; 0: there is one
  uint b_row_bytes;  // from row to row of b
  uint row_tiles;
  uint column_tiles;
  uint has_bias;
  // Columns of a that are summed. Those before them have been, in y; only with
  // the last are bias and function due.
  uint begin;
  uint end;
}
p;

float sums[SIZE(1, kRows * kColumns)];

// Element (i, column) of b, or (column, i) if it is transposed.
float element_of_b(uint matrix, uint i, uint column) {
  if (kTransposed) return number(matrix + column * p.b_row_bytes, i);
  return NUMBER(numbers, matrix / 4 + i * p.n + column);
}

#ifdef TEXELS

#define kTileRows kRows
#define kTileColumns (8 * kColumns)

// A lane has neighbouring columns where these are read by quads.
#define kColumnQuads (kQuads && !kTransposed)
uint row_of(uint r) { return r; }
uint column_of(uint c) {
  return kColumnQuads ? gl_SubgroupInvocationID * kColumns + c
                      : c * 8 + gl_SubgroupInvocationID;
}

#define EACH8(step) \
  step(0) step(1) step(2) step(3) step(4) step(5) step(6) step(7)
// Shuffles by a constant are one instruction. What decodes elements is in loops:
// drivers compile each copy of it for a while.
#define ADD(j)                                                        \
  [[unroll]] for (uint r = 0; r < kRows; ++r) {                       \
    const float one = subgroupShuffle(x[r], j);                       \
    [[unroll]] for (uint c = 0; c < kColumns; ++c) {                  \
      sums[r * kColumns + c] = fma(one, w[c], sums[r * kColumns + c]); \
    }                                                                 \
  }

void add_products(uint a_matrix, uint matrix, uint first_row,
                  uint first_column) {
  const uint lane = gl_SubgroupInvocationID;
  uint rows[kRows];
  [[unroll]] for (uint r = 0; r < kRows; ++r) {
    rows[r] = a_matrix + min(first_row + r, p.m - 1) * p.k;
  }
  uint columns[kColumns];
  [[unroll]] for (uint c = 0; c < kColumns; ++c) {
    columns[c] = min(first_column + column_of(c), p.n - 1);
  }
  // The place of a lane's first column; n is a multiple of kColumns here.
  const uint first =
      matrix / 4 + min(first_column + column_of(0), p.n - kColumns);
  float x[kRows];
  float w[kColumns];
  uint i = p.begin;  // a multiple of 8
  for (; i + 8 <= p.end; i += 8) {
    [[unroll]] for (uint r = 0; r < kRows; ++r) {
      x[r] = NUMBER(a, rows[r] + i + lane);
    }
    float elements[8 * kColumns];
    if (!kQuads) {
      for (uint e = 0; e < 8 * kColumns; ++e) {
        elements[e] =
            element_of_b(matrix, i + e / kColumns, columns[e % kColumns]);
      }
    }
    vec4 quads[kColumns];
#define STEP(j)                                                          \
  if (kColumnQuads) {                                                    \
    const vec4 four =                                                    \
        uintBitsToFloat(QUAD(b_quads, (first + (i + j) * p.n) / 4));     \
    [[unroll]] for (uint c = 0; c < kColumns; ++c) w[c] = four[c];       \
  } else if (kQuads) {                                                   \
    [[unroll]] for (uint c = 0; c < kColumns; ++c) {                     \
      if (j % 4 == 0) {                                                  \
        quads[c] = uintBitsToFloat(                                      \
            QUAD(b_quads, (matrix / 4 + columns[c] * p.k + i + j) / 4)); \
      }                                                                  \
      w[c] = quads[c][j % 4];                                            \
    }                                                                    \
  } else {                                                               \
    [[unroll]] for (uint c = 0; c < kColumns; ++c) {                     \
      w[c] = elements[j * kColumns + c];                                 \
    }                                                                    \
  }                                                                      \
  ADD(j)
    EACH8(STEP)
#undef STEP
  }
  if (i == p.end) return;
  [[unroll]] for (uint r = 0; r < kRows; ++r) {
    x[r] = NUMBER(a, rows[r] + min(i + lane, p.k - 1));
  }
  for (uint j = 0; i + j < p.end; ++j) {
    [[unroll]] for (uint c = 0; c < kColumns; ++c) {
      w[c] = element_of_b(matrix, i + j, columns[c]);
    }
    ADD(j)
  }
}

#else

#define kColumnLanes (kLanes / kRowLanes)
#define kTileRows (kRowLanes * kRows)
#define kTileColumns (kColumnLanes * kColumns)
#define kDepth 16u  // of a strip

shared float a_strip[SIZE(2, kDepth * kTileRows)];
shared float b_strip[SIZE(3, kDepth * kTileColumns)];

uint row_of(uint r) {
  return r * kRowLanes + gl_LocalInvocationIndex / kColumnLanes;
}
uint column_of(uint c) {
  return c * kColumnLanes + gl_LocalInvocationIndex % kColumnLanes;
}

void add_products(uint a_matrix, uint matrix, uint first_row,
                  uint first_column) {
  const uint lane = gl_LocalInvocationIndex;
  for (uint begin = p.begin; begin < p.end; begin += kDepth) {
    barrier();
    for (uint s = lane; s < kDepth * kTileRows; s += kLanes) {
      const uint row = min(first_row + s / kDepth, p.m - 1);
      const uint i = min(begin + s % kDepth, p.k - 1);
      a_strip[s % kDepth * kTileRows + s / kDepth] =
          NUMBER(a, a_matrix + row * p.k + i);
    }
    for (uint s = lane; s < kDepth * kTileColumns; s += kLanes) {
      // Neighbouring lanes read neighbouring elements.
      const uint depth = kTransposed ? s % kDepth : s / kTileColumns;
      const uint column = kTransposed ? s / kDepth : s % kTileColumns;
      b_strip[depth * kTileColumns + column] =
          element_of_b(matrix, min(begin + depth, p.k - 1),
                       min(first_column + column, p.n - 1));
    }
    barrier();
    const uint depths = min(kDepth, p.end - begin);
    for (uint depth = 0; depth < depths; ++depth) {
      float w[SIZE(4, kColumns)];
      [[unroll]] for (uint c = 0; c < kColumns; ++c) {
        w[c] = b_strip[depth * kTileColumns + column_of(c)];
      }
      [[unroll]] for (uint r = 0; r < kRows; ++r) {
        const float one = a_strip[depth * kTileRows + row_of(r)];
        [[unroll]] for (uint c = 0; c < kColumns; ++c) {
          sums[r * kColumns + c] = fma(one, w[c], sums[r * kColumns + c]);
        }
      }
    }
  }
}

#endif

void main() {
  const uint group = GROUP;
  if (NOTHING_TO_DO(group)) return;
  // Neighbouring work-groups share columns of b.
  const uint first_row = group % p.row_tiles * kTileRows;
  const uint rest = group / p.row_tiles;
  const uint first_column = rest % p.column_tiles * kTileColumns;
  const uint batch = rest / p.column_tiles;
  [[unroll]] for (uint i = 0; i < kRows * kColumns; ++i) sums[i] = 0;
  if (p.begin > 0) {
    [[unroll]] for (uint c = 0; c < kColumns; ++c) {
      const uint column = min(first_column + column_of(c), p.n - 1);
      [[unroll]] for (uint r = 0; r < kRows; ++r) {
        const uint row = min(first_row + row_of(r), p.m - 1);
        sums[r * kColumns + c] =
            y[p.y_base + (batch * p.m + row) * p.n + column];
      }
    }
  }
  add_products(p.a_base + batch * p.m * p.k, p.b_base + batch * p.b_bytes,
               first_row, first_column);
  [[unroll]] for (uint c = 0; c < kColumns; ++c) {
    const uint column = first_column + column_of(c);
    if (column >= p.n) break;
    const float added =
        p.has_bias != 0 ? NUMBER(bias, p.bias_base + column) : 0.0;
    [[unroll]] for (uint r = 0; r < kRows; ++r) {
      const uint row = first_row + row_of(r);
      if (row >= p.m) break;
      const float sum = sums[r * kColumns + c];
      y[p.y_base + (batch * p.m + row) * p.n + column] =
          p.end == p.k ? apply(kFunction, sum + added) : sum;
    }
  }
}
