#version 450
#extension GL_GOOGLE_include_directive : require
// CONVERT from F32: a lane writes words of plain types, or a block. The results
// are those of src/tensor/encode.cc, bit for bit.
#include "tensor.glsl"
#include "math.glsl"
#include "tables.glsl"

CONSTANT(1, uint, kType, 0)  // rc_dtype
CONSTANT(2, uint, kBlock, 1)  // elements: 1, 32 or 256
CONSTANT(3, uint, kBlockBytes, 4)

INPUT(1, x)
OUTPUT(8, uint, y)

#include "put_word.glsl"

PARAMETERS {
  GROUP_PARAMETERS
  uint x_base;
  uint y_base;  // in bytes
  uint count;   // of elements
}
p;

// Pairs of bytes, one after the other.
uint put_at;  // number of the next pair
uint put_bits;
uint put_mask;

void put(uint pair) {
  const uint shift = put_at % 2 * 16;
  put_bits |= pair << shift;
  put_mask |= 0xFFFFu << shift;
  ++put_at;
  if (put_at % 2 == 0) {
    put_word(put_at / 2 - 1, put_bits, put_mask);
    put_bits = put_mask = 0;
  }
}

void put_last() { put_word(put_at / 2, put_bits, put_mask); }

bool is_nan(float value) {
  return (floatBitsToUint(value) & 0x7FFFFFFFu) > 0x7F800000u;
}

// a / b rounded once, for finite numbers.
float exact_quotient(float a, float b) {
  const float near = a / b;
  // Quotients far beyond every level need not be exact.
  if (!(abs(near) < 1e12)) return near;
  const vec2 product = exact_product(near, b);
  precise float rest = a - product.x;
  rest = rest - product.y;
  precise float result = near + rest / b;
  return result;
}

// NaN is 0 in types with scales, and the largest are finite.
float value(uint i) {
  const float number = NUMBER(x, p.x_base + i);
  return is_nan(number) ? 0.0 : clamp(number, -8.507058666e37, 8.507058666e37);
}

uint scale_bits(float scale) {
  return float_to_half(clamp(scale, -65504.0, 65504.0));
}

int quantize(float number, float step_, float low, float high) {
  if (step_ == 0.0) return int(clamp(0.0, low, high));
  return int(roundEven(clamp(exact_quotient(number, step_), low, high)));
}

// The element of largest magnitude.
float extreme(uint from, uint count) {
  float result = 0.0;
  for (uint i = 0; i < count; ++i) {
    const float one = value(from + i);
    if (abs(one) > abs(result)) result = one;
  }
  return result;
}

vec2 low_and_high(uint from) {
  vec2 both = vec2(value(from));
  for (uint i = 1; i < 32; ++i) {
    const float one = value(from + i);
    both = vec2(min(both.x, one), max(both.y, one));
  }
  return both;
}

int nearest_iq4(float q) {
  int best = 0;
  for (int i = 1; i < 16; ++i) {
    if (abs(q - float(iq4_value(i))) < abs(q - float(iq4_value(best)))) {
      best = i;
    }
  }
  return best;
}

// The scale and offset of blocks of 32 with one scale.
float step_;
float offset_;
float low_;
float high_;

uint level(uint i) {
  if (kType == 20) {
    precise float scaled = value(i) * step_;
    return uint(nearest_iq4(scaled));
  }
  precise float above = value(i) - offset_;
  return uint(quantize(above, step_, low_, high_) - int(low_));
}

void encode_small(uint from) {
  const bool five = kType == 6 || kType == 7;
  const float levels = five ? 31.0 : 15.0;
  offset_ = 0.0;
  if (kType == 3 || kType == 7) {
    const vec2 both = low_and_high(from);
    precise float reach = both.y - both.x;
    const uint scale = scale_bits(exact_quotient(reach, levels));
    const uint minimum = scale_bits(both.x);
    put(scale);
    put(minimum);
    step_ = half_to_float(scale);
    offset_ = half_to_float(minimum);
    low_ = 0.0;
    high_ = levels;
  } else {
    const float most = extreme(from, 32);
    const uint scale =
        scale_bits(kType == 8    ? exact_quotient(abs(most), 127.0)
                   : kType == 20 ? exact_quotient(most, -127.0)
                                 : most * (five ? -0.0625 : -0.125));
    put(scale);
    step_ = half_to_float(scale);
    if (kType == 20 && step_ != 0.0) step_ = exact_quotient(1.0, step_);
    low_ = kType == 8 ? -127.0 : five ? -16.0 : -8.0;
    high_ = kType == 8 ? 127.0 : -low_ - 1.0;
  }
  if (kType == 8) {
    for (uint i = 0; i < 32; i += 2) {
      put(((level(from + i) - 127u) & 0xFFu) |
          ((level(from + i + 1) - 127u) & 0xFFu) << 8);
    }
    return;
  }
  if (five) {
    uint fifth = 0;
    for (uint i = 0; i < 32; ++i) fifth |= level(from + i) >> 4 << i;
    put(fifth & 0xFFFFu);
    put(fifth >> 16);
  }
  for (uint i = 0; i < 16; i += 2) {
    uint pair = 0;
    for (uint j = 0; j < 2; ++j) {
      const uint at = from + i + j;
      pair |= ((level(at) & 15u) | (level(at + 16) & 15u) << 4) << (8 * j);
    }
    put(pair);
  }
}

// The scales and offsets of the groups of a block of 256.
float steps[16];
float offsets[8];

// Q4_K and Q5_K.
uint k_level(uint from, uint i) {
  precise float above = value(from + i) + offsets[i / 32];
  return uint(quantize(above, steps[i / 32], 0.0, kType == 13 ? 31.0 : 15.0));
}

void encode_k(uint from) {
  const float levels = kType == 13 ? 31.0 : 15.0;
  float most_scale = 0.0;
  float most_minimum = 0.0;
  for (uint g = 0; g < 8; ++g) {
    const vec2 both = low_and_high(from + 32 * g);
    offsets[g] = max(0.0, -both.x);
    precise float reach = max(both.y, -offsets[g]) + offsets[g];
    steps[g] = exact_quotient(reach, levels);
    most_scale = max(most_scale, steps[g]);
    most_minimum = max(most_minimum, offsets[g]);
  }
  const uint scale = scale_bits(exact_quotient(most_scale, 63.0));
  const uint minimum = scale_bits(exact_quotient(most_minimum, 63.0));
  put(scale);
  put(minimum);
  uint scales[8];
  uint minimums[8];
  for (uint g = 0; g < 8; ++g) {
    const float unit = half_to_float(scale);
    const float least = half_to_float(minimum);
    scales[g] = uint(quantize(steps[g], unit, 0.0, 63.0));
    minimums[g] = uint(quantize(offsets[g], least, 0.0, 63.0));
    steps[g] = unit * float(scales[g]);
    offsets[g] = least * float(minimums[g]);
  }
  for (uint g = 0; g < 4; g += 2) {
    put((scales[g] | scales[g + 4] >> 4 << 6) |
        (scales[g + 1] | scales[g + 5] >> 4 << 6) << 8);
  }
  for (uint g = 0; g < 4; g += 2) {
    put((minimums[g] | minimums[g + 4] >> 4 << 6) |
        (minimums[g + 1] | minimums[g + 5] >> 4 << 6) << 8);
  }
  for (uint g = 4; g < 8; g += 2) {
    put(((scales[g] & 15u) | (minimums[g] & 15u) << 4) |
        ((scales[g + 1] & 15u) | (minimums[g + 1] & 15u) << 4) << 8);
  }
  if (kType == 13) {
    for (uint i = 0; i < 32; i += 2) {
      uint pair = 0;
      for (uint g = 0; g < 8; ++g) {
        pair |= k_level(from, 32 * g + i) >> 4 << g;
        pair |= k_level(from, 32 * g + i + 1) >> 4 << (g + 8);
      }
      put(pair);
    }
  }
  for (uint i = 0; i < 128; i += 2) {
    uint pair = 0;
    for (uint j = 0; j < 2; ++j) {
      const uint at = i / 32 * 64 + i % 32 + j;
      pair |= ((k_level(from, at) & 15u) | (k_level(from, at + 32) & 15u) << 4)
              << (8 * j);
    }
    put(pair);
  }
}

uint q6_level(uint from, uint i) {
  return uint(quantize(value(from + i), steps[i / 16], -32.0, 31.0) + 32);
}

void encode_q6(uint from) {
  float most = 0.0;
  for (uint g = 0; g < 16; ++g) {
    steps[g] = extreme(from + 16 * g, 16) * -0.03125;
    most = max(most, abs(steps[g]));
  }
  const uint scale = scale_bits(exact_quotient(most, 127.0));
  const float unit = half_to_float(scale);
  int scales[16];
  for (uint g = 0; g < 16; ++g) {
    scales[g] = quantize(steps[g], unit, -127.0, 127.0);
    steps[g] = unit * float(scales[g]);
  }
  for (uint i = 0; i < 128; i += 2) {
    uint pair = 0;
    for (uint j = 0; j < 2; ++j) {
      const uint at = i / 64 * 128 + i % 64 + j;
      pair |= ((q6_level(from, at) & 15u) |
               (q6_level(from, at + 64) & 15u) << 4)
              << (8 * j);
    }
    put(pair);
  }
  for (uint i = 0; i < 64; i += 2) {
    uint pair = 0;
    for (uint j = 0; j < 8; ++j) {
      const uint at = i / 32 * 128 + j % 4 * 32 + i % 32 + j / 4;
      pair |= q6_level(from, at) >> 4 << (2 * j);
    }
    put(pair);
  }
  for (uint g = 0; g < 16; g += 2) {
    put((uint(scales[g]) & 0xFFu) | (uint(scales[g + 1]) & 0xFFu) << 8);
  }
  put(scale);
}

void encode_ternary(uint from) {
  const uint scale = scale_bits(abs(extreme(from, 256)));
  const float unit = half_to_float(scale);
  for (uint i = 0; i < 64; i += 2) {
    uint pair = 0;
    for (uint j = 0; j < 8; ++j) {
      const uint at = i / 32 * 128 + j % 4 * 32 + i % 32 + j / 4;
      pair |= uint(quantize(value(from + at), unit, -1.0, 1.0) + 1) << (2 * j);
    }
    put(pair);
  }
  put(scale);
}

// The integer nearest to a number of less than 2^31.
int nearest(float number) { return int(roundEven(number)); }

uint encode_plain(float number) {
  switch (kType) {
    case 1:
      return float_to_half(number);
    case 24:
      return is_nan(number) ? 0u
                            : uint(nearest(clamp(number, -128.0, 127.0))) &
                                  0xFFu;
    case 25:
      return is_nan(number) ? 0u
                            : uint(nearest(clamp(number, -32768.0, 32767.0))) &
                                  0xFFFFu;
    case 26:
      if (is_nan(number)) return 0;
      if (number >= 2147483648.0) return 0x7FFFFFFFu;
      if (number <= -2147483648.0) return 0x80000000u;
      return uint(nearest(number));
    case 30: {
      const uint bits = floatBitsToUint(number);
      if (is_nan(number)) return bits >> 16 | 0x40u;
      return (bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16;
    }
  }
  return floatBitsToUint(number);
}

// Low and high word of an f64.
uvec2 to_double(float number) {
  const uint bits = floatBitsToUint(number);
  const uint sign = bits & 0x80000000u;
  uint mantissa = bits & 0x7FFFFFu;
  int exponent = int(bits >> 23 & 0xFFu);
  if (exponent == 255) {
    return uvec2(mantissa << 29, sign | 0x7FF00000u | mantissa >> 3 |
                                     (mantissa != 0 ? 0x80000u : 0));
  }
  if (exponent == 0) {
    if (mantissa == 0) return uvec2(0, sign);
    const int shift = 23 - highest_bit(mantissa);
    mantissa = mantissa << shift & 0x7FFFFFu;
    exponent = 1 - shift;
  }
  return uvec2(mantissa << 29,
               sign | uint(exponent + 1023 - 127) << 20 | mantissa >> 3);
}

// Low and high word of an integer of 64 bits.
uvec2 to_long(float number) {
  if (is_nan(number)) return uvec2(0);
  if (number >= 9223372036854775808.0) return uvec2(0xFFFFFFFFu, 0x7FFFFFFFu);
  if (number <= -9223372036854775808.0) return uvec2(0, 0x80000000u);
  const float size = abs(roundEven(number));
  const uint bits = floatBitsToUint(size);
  const uint mantissa = (bits & 0x7FFFFFu) | 0x800000u;
  const int shift = int(bits >> 23) - 150;
  uvec2 result = uvec2(0);
  if (size < 8388608.0) {
    result.x = uint(size);
  } else if (shift >= 32) {
    result.y = mantissa << (shift - 32);
  } else {
    result = uvec2(mantissa << shift, shift == 0 ? 0 : mantissa >> (32 - shift));
  }
  if (number < 0.0) {
    result.x = ~result.x + 1;
    result.y = ~result.y + (result.x == 0 ? 1 : 0);
  }
  return result;
}

const uint kEach = 8;  // words of a lane
// Elements of a word.
#define kElements (kBlockBytes < 4 ? 4 / kBlockBytes : 1)

void encode_words(uint word) {
  if (kBlockBytes == 8) {
    const float number = NUMBER(x, p.x_base + word);
    const uvec2 both = kType == 28 ? to_double(number) : to_long(number);
    y[p.y_base / 4 + 2 * word] = both.x;
    y[p.y_base / 4 + 2 * word + 1] = both.y;
    return;
  }
  const uint before = p.y_base % 4 / kBlockBytes;  // elements
  uint bits = 0;
  uint mask = 0;
  [[unroll]] for (uint e = 0; e < kElements; ++e) {
    const uint i = word * kElements + e - before;  // huge before the first
    if (i < p.count) {
      const uint place = e * 8 * kBlockBytes;
      bits |= encode_plain(NUMBER(x, p.x_base + i)) << place;
      mask |= 0xFFFFFFFFu >> (32 - 8 * kBlockBytes) << place;
    }
  }
  put_word(p.y_base / 4 + word, bits, mask);
}

void encode_block(uint block) {
  put_at = (p.y_base + block * kBlockBytes) / 2;
  put_bits = put_mask = 0;
  if (kBlock == 32) {
    encode_small(block * 32);
  } else if (kType == 14) {
    encode_q6(block * 256);
  } else if (kType == 35) {
    encode_ternary(block * 256);
  } else {
    encode_k(block * 256);
  }
  put_last();
}

void main() {
  const uint group = GROUP;
  if (NOTHING_TO_DO(group)) return;
  if (kBlock > 1) {
    const uint block = group * kLanes + gl_LocalInvocationIndex;
    if (block < p.count / kBlock) encode_block(block);
    return;
  }
  const uint before = p.y_base % 4 / kBlockBytes;
  const uint words = (before + p.count + kElements - 1) / kElements;
  const uint begin = group * kLanes * kEach;
  const uint end = min(begin + kLanes * kEach, words);
  for (uint i = begin + gl_LocalInvocationIndex; i < end; i += kLanes) {
    encode_words(i);
  }
}
