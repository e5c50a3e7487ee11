#version 450
#extension GL_GOOGLE_include_directive : require
// CACHE_STORE: a work-group has one vector, a lane writes elements of F32, pairs
// of F16 or blocks of Q8_0. What is not a whole word is written atomically: its
// other half may be another vector's.
#include "common.glsl"
#include "math.glsl"

CONSTANT(1, uint, kType, 0)  // 0: F32, 1: F16, 2: Q8_0

INPUT(1, x)
INPUT(2, positions)
INPUT(3, sequences)
INPUT(4, page_table)
OUTPUT(8, uint, cache)

PARAMETERS {
  ROW_PARAMETERS
  uint kv_heads;
  uint page_size;
  uint pages;
  uint table_width;
  uint first_page;  // of the range of the cache that is bound
  uint range_pages;
  uint d;
}
p;

#include "cache.glsl"

// Number `index` of two bytes.
void put_half(uint index, uint bits) {
  const uint shift = index % 2 * 16;
  atomicAnd(cache[index / 2], 0xFFFF0000u >> shift);
  atomicOr(cache[index / 2], bits << shift);
}

// A block begins at a multiple of two bytes: its scale, then 16 pairs.
void put_block(uint from, uint target) {
  float largest = 0;
  for (uint i = 0; i < 32; ++i) {
    const float value = abs(NUMBER(x, from + i));
    if (value > largest) largest = min(value, 3.4e38);
  }
  const uint scale = min(float_to_half(largest / 127.0), 0x7BFFu);
  const float rounded = half_to_float(scale);
  put_half(target, scale);
  for (uint i = 0; i < 16; ++i) {
    uint pair = 0;
    for (uint j = 0; j < 2; ++j) {
      const float value = NUMBER(x, from + 2 * i + j);
      const float scaled =
          isnan(value) || rounded == 0.0
              ? 0.0
              : clamp(value / rounded, -127.0, 127.0);
      pair |= (uint(int(roundEven(scaled))) & 0xFFu) << (8 * j);
    }
    put_half(target + 1 + i, pair);
  }
}

void main() {
  const uint row = gl_WorkGroupID.y;
  if (row >= ROW_COUNT) return;
  const uint head = gl_WorkGroupID.x;
  const uint position = WORD(positions, row);
  const uint page = page_of(WORD(sequences, row), position);
  if (page == kNowhere || page < p.first_page ||
      page - p.first_page >= p.range_pages) {
    return;
  }
  const uint vector = ((page - p.first_page) * p.kv_heads + head) *
                          p.page_size +
                      position % p.page_size;
  const uint from = (row * p.kv_heads + head) * p.d;
  const bool words = kType == 1 && p.d % 2 == 0;  // of two numbers each
  const uint units = kType == 2 ? p.d / 32 : words ? p.d / 2 : p.d;
  for (uint i = gl_LocalInvocationIndex; i < units; i += kLanes) {
    if (kType == 0) {
      cache[vector * p.d + i] = WORD(x, from + i);
    } else if (words) {
      cache[vector * units + i] =
          float_to_half(NUMBER(x, from + 2 * i)) |
          (float_to_half(NUMBER(x, from + 2 * i + 1)) << 16);
    } else if (kType == 1) {
      put_half(vector * p.d + i, float_to_half(NUMBER(x, from + i)));
    } else {
      put_block(from + 32 * i, (vector * units + i) * 17);
    }
  }
}
