#version 450
#extension GL_GOOGLE_include_directive : require
#ifdef MATRICES
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_NV_cooperative_matrix : require
#endif
// LINEAR and EXPERT_LINEAR. A lane has one row of the weight; a work-group
// kTiles tiles of such rows and kBatch rows of x, or with experts one choice.
// With many rows of x it has a square of both (square.glsl).
//
// Every element of the output is summed in one order, whatever the other rows
// are. With storage buffers the columns are cut into kParts sections of kSection
// groups; each is summed by number, and then the sections are. With texel
// buffers sums are taken within each group of 32 columns by number, then of the
// groups by number.
#include "common.glsl"

CONSTANT(8, uint, kBatch, 1)
CONSTANT(9, uint, kTiles, 1)
CONSTANT(10, bool, kExperts, false)
// Whether rows of x begin at a whole quad.
CONSTANT(11, bool, kWholeQuads, true)
// Columns beyond the last whole group.
CONSTANT(12, bool, kRest, false)

#include "blocks.glsl"
#include "fours.glsl"

INPUT(1, x_words)
INPUT_QUADS(2, x_quads)
INPUT(5, bias)
INPUT(6, residual)
INPUT(7, ids)
OUTPUT(8, float, y)

PARAMETERS {
  ROW_PARAMETERS
  uint n;
  uint k;
  uint groups;
  uint first_tile;   // of the piece of the weight that is bound
  uint piece_tiles;  // in it
  uint tiles;        // of a matrix
  uint experts;
  uint chosen;  // experts of a row; 1 without
  uint x_each;  // each choice has a separate vector
  uint has_bias;
  uint has_residual;
}
p;

#define kSums (kTiles * kBatch)

float sums[SIZE(1, kSums)];

#ifdef TEXELS

#define kParts 1
#define SHARE_SUMS
#define WHOLE_SUM(i, lane) sums[i]

// Does `step(quad)` for each of the quads of a group: shuffles by a constant are
// one instruction.
#define EACH_QUAD(step) \
  step(0) step(1) step(2) step(3) step(4) step(5) step(6) step(7)

// Elements 4 lane to 4 lane + 3 of a group of a row of x.
vec4 read_x(uint row, uint group) {
  const uint column = group * 32 + gl_SubgroupInvocationID * 4;
  vec4 x;
  if (kWholeQuads) {
    x = uintBitsToFloat(QUAD(x_quads, (row * p.k + column) / 4));
  } else {
    [[unroll]] for (uint i = 0; i < 4; ++i) {
      x[i] = NUMBER(x_words, row * p.k + min(column + i, p.k - 1));
    }
  }
  if (kRest) {
    [[unroll]] for (uint i = 0; i < 4; ++i) {
      if (column + i >= p.k) x[i] = 0;
    }
  }
  return x;
}

void add_groups(uint tiles[kTiles], uint x_rows[kBatch]) {
  const uint lane = gl_SubgroupInvocationID;
  for (uint group = 0; group < p.groups; ++group) {
    Raw raw[kTiles];
    [[unroll]] for (uint t = 0; t < kTiles; ++t) {
      raw[t] = read_group(tiles[t], lane, group, p.groups);
    }
    vec4 x[kBatch];
    [[unroll]] for (uint b = 0; b < kBatch; ++b) {
      x[b] = read_x(x_rows[b], group);
    }
    float first[kTiles * kBatch];
    float second[kTiles * kBatch];
    [[unroll]] for (uint i = 0; i < kTiles * kBatch; ++i) {
      first[i] = 0;
      second[i] = 0;
    }
#define STEP(quad)                                                         \
  {                                                                        \
    vec4 w[kTiles];                                                        \
    [[unroll]] for (uint t = 0; t < kTiles; ++t) {                         \
      FOUR_ELEMENTS(raw[t], quad, w[t])                                    \
    }                                                                      \
    for (uint e = 0; e < 4; ++e) {                                         \
      ADD(quad, e)                                                         \
    }                                                                      \
  }
#define ADD(quad, e)                                                       \
  [[unroll]] for (uint b = 0; b < kBatch; ++b) {                           \
    const float one = subgroupShuffle(x[b][e], quad);                      \
    [[unroll]] for (uint t = 0; t < kTiles; ++t) {                         \
      if (kHalves && quad >= 4) {                                          \
        second[b * kTiles + t] = fma(w[t][e], one, second[b * kTiles + t]); \
      } else {                                                             \
        first[b * kTiles + t] = fma(w[t][e], one, first[b * kTiles + t]);  \
      }                                                                    \
    }                                                                      \
  }
    EACH_QUAD(STEP)
#undef ADD
#undef STEP
    [[unroll]] for (uint b = 0; b < kBatch; ++b) {
      vec2 sum = vec2(0);
      if (kHasMinimum) {
        const float four = x[b].x + x[b].y + x[b].z + x[b].w;
        sum.x = subgroupShuffle(four, 0) + subgroupShuffle(four, 1) +
                subgroupShuffle(four, 2) + subgroupShuffle(four, 3);
        sum.y = subgroupShuffle(four, 4) + subgroupShuffle(four, 5) +
                subgroupShuffle(four, 6) + subgroupShuffle(four, 7);
        if (!kHalves) sum.x += sum.y;
      }
      [[unroll]] for (uint t = 0; t < kTiles; ++t) {
        const uint i = b * kTiles + t;
        sums[i] = fma(raw[t].scale.x, first[i], sums[i]);
        if (kHalves) sums[i] = fma(raw[t].scale.y, second[i], sums[i]);
        if (kHasMinimum) {
          sums[i] = fma(raw[t].minimum.x, sum.x, sums[i]);
          if (kHalves) sums[i] = fma(raw[t].minimum.y, sum.y, sums[i]);
        }
      }
    }
  }
}

#else

CONSTANT(13, uint, kParts, 1)
// 1: by squares.
CONSTANT(14, uint, kSquare, 0)
CONSTANT(15, uint, kSection, 1)
// Whether all sections are as long.
CONSTANT(16, bool, kEven, false)
// With squares: a work-group has so many times 64 rows of x.
CONSTANT(17, uint, kRuns, 1)

// Elements 4 quad to 4 quad + 3 of a group.
#define FOUR_WEIGHTS(raw, quad, four)                         \
  FOUR_ELEMENTS(raw, quad, four)                              \
  if (kScaling != kUnscaled) {                                \
    const uint half_ = kHalves ? (quad) / 4 : 0;              \
    if (kHasMinimum) {                                        \
      four = fma(four, vec4(raw.scale[half_]),                \
                 vec4(raw.minimum[half_]));                   \
    } else {                                                  \
      four *= raw.scale[half_];                               \
    }                                                         \
  }

// Four columns of a row of x. Columns beyond the last are 0.
vec4 read_x(uint row, uint column) {
  vec4 x;
  if (kWholeQuads) {
    const uint last = p.k - 4;
    x = uintBitsToFloat(QUAD(
        x_quads, (row * p.k + (kRest ? min(column, last) : column)) / 4));
  } else {
    [[unroll]] for (uint i = 0; i < 4; ++i) {
      x[i] = NUMBER(x_words, row * p.k + min(column + i, p.k - 1));
    }
  }
  if (kRest) {
    [[unroll]] for (uint i = 0; i < 4; ++i) {
      if (column + i >= p.k) x[i] = 0;
    }
  }
  return x;
}

#ifdef MATRICES
#include "matrices.glsl"
#else

// The columns of the weight with squares, otherwise the sums of parts: some
// devices have no memory for both.
shared vec4 shared_quads[SIZE(3, kSquare * 512 + (1 - kSquare) * (kLanes * kSums + 3) / 4)];
#define PART_SUM(i) shared_quads[(i) / 4][(i) % 4]

#include "square.glsl"

#define SHARE_SUMS                                                      \
  if (kParts > 1) {                                                     \
    [[unroll]] for (uint i = 0; i < kSums; ++i) {                       \
      PART_SUM(i * kLanes + gl_LocalInvocationIndex) = sums[i];         \
    }                                                                   \
    barrier();                                                          \
  }
#define WHOLE_SUM(i, lane) (kParts == 1 ? sums[i] : sum_of_parts(i, lane))

float sum_of_parts(uint number, uint lane) {
  float sum = 0;
  [[unroll]] for (uint part = 0; part < kParts; ++part) {
    sum += PART_SUM(number * kLanes + part * kTileRows + lane);
  }
  return sum;
}

void add_groups(uint tiles[SIZE(4, kTiles)], uint x_rows[SIZE(5, kBatch)]) {
  const uint row = gl_LocalInvocationIndex % kTileRows;
  const uint begin = gl_LocalInvocationIndex / kTileRows * kSection;
  const uint end = kEven ? begin + kSection : min(begin + kSection, p.groups);
  for (uint group = begin; group < end; ++group) {
    Raw raw[SIZE(4, kTiles)];
    [[unroll]] for (uint t = 0; t < kTiles; ++t) {
      raw[t] = read_group(tiles[t], row, group, p.groups);
    }
    [[unroll]] for (uint quad = 0; quad < 8; ++quad) {
      vec4 w[SIZE(4, kTiles)];
      [[unroll]] for (uint t = 0; t < kTiles; ++t) {
        FOUR_WEIGHTS(raw[t], quad, w[t])
      }
      [[unroll]] for (uint b = 0; b < kBatch; ++b) {
        const vec4 x = read_x(x_rows[b], group * 32 + quad * 4);
        [[unroll]] for (uint t = 0; t < kTiles; ++t) {
          float sum = fma(w[t].x, x.x, sums[b * kTiles + t]);
          sum = fma(w[t].y, x.y, sum);
          sum = fma(w[t].z, x.z, sum);
          sums[b * kTiles + t] = fma(w[t].w, x.w, sum);
        }
      }
    }
  }
}

#endif  // MATRICES
#endif

#ifdef MATRICES

void main() {
  const uint rows = ROW_COUNT;
  const uint first_row = gl_WorkGroupID.y * kMatrixRows;
  if (first_row < rows) {
    multiply_matrices(first_row, gl_WorkGroupID.x * (kMatrixOutputs / kTileRows),
                      rows);
  }
}

#else

void main() {
  const uint rows = ROW_COUNT;
#ifndef TEXELS
  if (kSquare != 0) {
    const uint first_row = gl_WorkGroupID.y * kSide * kRuns;
    if (first_row < rows) {
      multiply_square(first_row, gl_WorkGroupID.x * kSideTiles, rows);
    }
    return;
  }
#endif
  const uint first_row = gl_WorkGroupID.y * kBatch;
  if (first_row >= rows) return;

  uint x_rows[SIZE(5, kBatch)];
  [[unroll]] for (uint b = 0; b < kBatch; ++b) {
    x_rows[b] = min(first_row + b, rows - 1);
  }
  uint tile = gl_WorkGroupID.x * kTiles;  // within its matrix
  uint in_piece = tile;
  uint choice = 0;
  uint first_bias = 0;
  if (kExperts) {
    choice = first_row * p.chosen + gl_WorkGroupID.z;
    if (p.x_each != 0) x_rows[0] = choice;
    const uint expert = min(WORD(ids, choice), p.experts - 1);
    const uint wanted = expert * p.tiles + tile;
    if (wanted < p.first_tile || wanted - p.first_tile >= p.piece_tiles) return;
    in_piece = wanted - p.first_tile;
    first_bias = expert * p.n;
  }
  uint tiles[SIZE(4, kTiles)];
  [[unroll]] for (uint t = 0; t < kTiles; ++t) {
    tiles[t] = min(in_piece + t, p.piece_tiles - 1);
  }
  [[unroll]] for (uint i = 0; i < kSums; ++i) sums[i] = 0;
  add_groups(tiles, x_rows);

  // Sum number i is given by the lanes of part i % kParts.
  SHARE_SUMS
  const uint lane = gl_LocalInvocationIndex % kTileRows;
  const uint part = gl_LocalInvocationIndex / kTileRows;
  [[unroll]] for (uint i = 0; i < kSums; ++i) {
    if (i % kParts != part) continue;
    const uint t = i % kTiles;
    const uint b = i / kTiles;
    const uint column =
        ((kExperts ? tile : p.first_tile + tile) + t) * kTileRows + lane;
    if (in_piece + t >= p.piece_tiles || tile + t >= p.tiles ||
        column >= p.n || first_row + b >= rows) {
      continue;
    }
    float sum = WHOLE_SUM(i, lane);
    if (p.has_bias != 0) sum += NUMBER(bias, first_bias + column);
    const uint at = (kExperts ? choice : first_row + b) * p.n + column;
    if (p.has_residual != 0) sum += NUMBER(residual, at);
    y[at] = sum;
  }
}

#endif
