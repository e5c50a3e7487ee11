#version 450
#extension GL_GOOGLE_include_directive : require
// LINEAR and EXPERT_LINEAR. A lane has one row of the weight; a work-group
// kTiles tiles of such rows and kBatch rows of x, or with experts one choice.
//
// Every element of the output is summed in one order: within each group of 32
// columns by number, then the groups by number. With shared memory `kParts`
// parts of a work-group take every kParts-th chunk of groups and are added at
// the end, by number. Neither depends on kBatch, so that a row's result does
// not depend on the other rows.
#include "common.glsl"

CONSTANT(8, uint, kBatch, 1)
CONSTANT(9, uint, kTiles, 1)
CONSTANT(10, bool, kExperts, false)
// Whether rows of x begin at a whole quad.
CONSTANT(11, bool, kWholeQuads, true)
// Columns beyond the last whole group.
CONSTANT(12, bool, kRest, false)

#include "blocks.glsl"

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
  uint x_each;  // each choice has a vector of its own
  uint has_bias;
  uint has_residual;
}
p;

#define kSums (kTiles * kBatch)

float sums[SIZE(1, kSums)];

#ifdef TEXELS

// Does `step(e)` for e from 0 to 31: shuffles by a constant are one instruction.
#define EACH4(step, e) step(e) step(e + 1) step(e + 2) step(e + 3)
#define EACH32(step)                                                    \
  EACH4(step, 0) EACH4(step, 4) EACH4(step, 8) EACH4(step, 12)          \
  EACH4(step, 16) EACH4(step, 20) EACH4(step, 24) EACH4(step, 28)

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
#define STEP(e)                                                        \
  {                                                                    \
    float w[kTiles];                                                   \
    [[unroll]] for (uint t = 0; t < kTiles; ++t) {                     \
      w[t] = element(raw[t], e);                                       \
    }                                                                  \
    [[unroll]] for (uint b = 0; b < kBatch; ++b) {                     \
      const float one = subgroupShuffle(x[b][(e) % 4], (e) / 4);     \
      [[unroll]] for (uint t = 0; t < kTiles; ++t) {                   \
        if (kHalves && (e) >= 16) {                                    \
          second[b * kTiles + t] = fma(w[t], one, second[b * kTiles + t]); \
        } else {                                                       \
          first[b * kTiles + t] = fma(w[t], one, first[b * kTiles + t]);   \
        }                                                              \
      }                                                                \
    }                                                                  \
  }
    EACH32(STEP)
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

#include "fours.glsl"

CONSTANT(13, uint, kParts, 1)
CONSTANT(14, uint, kChunk, 4)  // groups of a part at a time

shared vec4 x_area[SIZE(2, kBatch * kParts * kChunk * 8)];
shared float part_sums[SIZE(3, kLanes)];

void add_groups(uint tiles[SIZE(4, kTiles)], uint x_rows[SIZE(5, kBatch)]) {
  const uint lane = gl_LocalInvocationIndex % kTileRows;
  const uint part = gl_LocalInvocationIndex / kTileRows;
  const uint columns = kParts * kChunk * 32;
  for (uint begin = 0; begin < p.groups; begin += kParts * kChunk) {
    barrier();
    [[unroll]] for (uint b = 0; b < kBatch; ++b) {
      for (uint i = gl_LocalInvocationIndex; i < columns / 4; i += kLanes) {
        const uint column = begin * 32 + i * 4;
        vec4 x = vec4(0);
        [[unroll]] for (uint j = 0; j < 4; ++j) {
          if (column + j < p.k) {
            x[j] = NUMBER(x_words, x_rows[b] * p.k + column + j);
          }
        }
        x_area[b * columns / 4 + i] = x;
      }
    }
    barrier();
    for (uint c = 0; c < kChunk; ++c) {
      const uint local = part * kChunk + c;
      const uint group = begin + local;
      if (group >= p.groups) break;
      Raw raw[SIZE(4, kTiles)];
      [[unroll]] for (uint t = 0; t < kTiles; ++t) {
        raw[t] = read_group(tiles[t], lane, group, p.groups);
      }
      float part_sum[SIZE(6, 2 * kSums)];
      float x_sum[SIZE(7, 2 * kBatch)];
      [[unroll]] for (uint i = 0; i < 2 * kTiles * kBatch; ++i) part_sum[i] = 0;
      [[unroll]] for (uint i = 0; i < 2 * kBatch; ++i) x_sum[i] = 0;
      [[unroll]] for (uint quad = 0; quad < 8; ++quad) {
        const uint second = kHalves ? quad / 4 : 0;
        vec4 w[SIZE(4, kTiles)];
        [[unroll]] for (uint t = 0; t < kTiles; ++t) {
          FOUR_ELEMENTS(raw[t], quad, w[t])
        }
        [[unroll]] for (uint b = 0; b < kBatch; ++b) {
          const vec4 x = x_area[b * columns / 4 + local * 8 + quad];
          if (kHasMinimum) {
            x_sum[2 * b + second] += x.x + x.y + x.z + x.w;
          }
          [[unroll]] for (uint t = 0; t < kTiles; ++t) {
            const uint i = 2 * (b * kTiles + t) + second;
            float sum = fma(w[t].x, x.x, part_sum[i]);
            sum = fma(w[t].y, x.y, sum);
            sum = fma(w[t].z, x.z, sum);
            part_sum[i] = fma(w[t].w, x.w, sum);
          }
        }
      }
      [[unroll]] for (uint b = 0; b < kBatch; ++b) {
        [[unroll]] for (uint t = 0; t < kTiles; ++t) {
          const uint i = b * kTiles + t;
          [[unroll]] for (uint h = 0; h < (kHalves ? 2 : 1); ++h) {
            sums[i] = fma(raw[t].scale[h], part_sum[2 * i + h], sums[i]);
            if (kHasMinimum) {
              sums[i] = fma(raw[t].minimum[h], x_sum[2 * b + h], sums[i]);
            }
          }
        }
      }
    }
  }
  if (kParts == 1) return;
  [[unroll]] for (uint i = 0; i < kTiles * kBatch; ++i) {
    barrier();
    part_sums[gl_LocalInvocationIndex] = sums[i];
    barrier();
    sums[i] = 0;
    for (uint part_ = 0; part_ < kParts; ++part_) {
      sums[i] += part_sums[part_ * kTileRows + lane];
    }
  }
}

#endif

void main() {
  const uint rows = ROW_COUNT;
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
  [[unroll]] for (uint i = 0; i < kTiles * kBatch; ++i) sums[i] = 0;
  add_groups(tiles, x_rows);

  if (gl_LocalInvocationIndex >= kTileRows) return;
  [[unroll]] for (uint t = 0; t < kTiles; ++t) {
    if (in_piece + t >= p.piece_tiles || tile + t >= p.tiles) break;
    const uint column = ((kExperts ? tile : p.first_tile + tile) + t) *
                            kTileRows +
                        gl_LocalInvocationIndex;
    if (column >= p.n) break;
    const float added =
        p.has_bias != 0 ? NUMBER(bias, first_bias + column) : 0.0;
    [[unroll]] for (uint b = 0; b < kBatch; ++b) {
      if (first_row + b >= rows) break;
      const uint at =
          (kExperts ? choice : first_row + b) * p.n + column;
      float sum = sums[b * kTiles + t] + added;
      if (p.has_residual != 0) sum += NUMBER(residual, at);
      y[at] = sum;
    }
  }
}
