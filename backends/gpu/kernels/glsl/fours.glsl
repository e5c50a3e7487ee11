// Four elements of a group at a time, as `element` of blocks.glsl has them one by
// one, for compilers that do not unroll loops and copy what a function is given:
// SwiftShader takes a third of the time.
vec4 four_of_halves(uvec2 words) {
  const uvec4 bits = uvec4(words.x & 0xFFFFu, words.x >> 16,
                           words.y & 0xFFFFu, words.y >> 16);
  if (kMeaning == kBF16) return uintBitsToFloat(bits << 16);
  if (kMeaning == kF16) {
    return vec4(half_to_float(bits.x), half_to_float(bits.y),
                half_to_float(bits.z), half_to_float(bits.w));
  }
  return vec4(ivec4(bits << 16) >> 16);
}

// GPUs convert integers at a small part of the rate at which they add. The bits of
// a number below 2^23 in those of 2^23 are the sum.
const uint kTwo23Bits = 0x4B000000u;
const float kTwo23 = 8388608.0;

vec4 four_of_bytes(uint word) {
  const uvec4 bits = (uvec4(word) >> uvec4(0, 8, 16, 24)) & 0xFFu;
  return uintBitsToFloat(bits ^ (kTwo23Bits | 0x80u)) - (kTwo23 + 128.0);
}

// The lowest bits of `low`, and above them those of `high`.
vec4 four_of_bits(uint low, uint high) {
  const uvec4 each = uvec4(0, 1, 2, 3);
  const uint width = kElementBits == 4 ? 4 : kLowPlane;
  uvec4 bits = (uvec4(low) >> (each * width)) & ((1u << width) - 1u);
  if (kHighPlane != 0) {
    const uint below = kElementBits == 4 ? 4 : 2;
    bits |= ((uvec4(high) >> (each * kHighPlane)) & ((1u << kHighPlane) - 1u))
            << below;
  }
  if (kMeaning != kInteger) {
    const uvec4 table = table_of(kMeaning);
    return vec4(look_up(table, bits.x), look_up(table, bits.y),
                look_up(table, bits.z), look_up(table, bits.w));
  }
  return uintBitsToFloat(bits | kTwo23Bits) - (kTwo23 + float(kZero));
}

// The bits of elements 4 quad to 4 quad + 3 in planes of `width` bits from
// number `first` on.
#define PLANE_BITS(raw, width, first, quad)                     \
  (width == 1 ? raw.planes[first] >> ((quad) * 4)               \
              : raw.planes[(first) + (quad) / 4] >> ((quad) % 4 * 8))

// Elements 4 quad to 4 quad + 3. No function, for which the group would be copied.
#define FOUR_ELEMENTS(raw, quad, four)                                         \
  if (kElementBits == 32) {                                                    \
    four = uintBitsToFloat(raw.quads[quad]);                                   \
  } else if (kElementBits == 16) {                                             \
    const uint word_ = (quad) % 2 * 2;                                         \
    four = four_of_halves(uvec2(raw.quads[(quad) / 2][word_],                  \
                                raw.quads[(quad) / 2][word_ + 1]));            \
  } else if (kElementBits == 8) {                                              \
    four = four_of_bytes(raw.quads[(quad) / 4][(quad) % 4]);                   \
  } else {                                                                     \
    uint high_ = 0;                                                            \
    if (kHighPlane != 0) high_ = PLANE_BITS(raw, kHighPlane, kLowPlane, quad); \
    if (kElementBits == 4) {                                                   \
      four = four_of_bits(raw.quads[0][(quad) / 2] >> ((quad) % 2 * 16), high_); \
    } else {                                                                   \
      four = four_of_bits(PLANE_BITS(raw, kLowPlane, 0, quad), high_);         \
    }                                                                          \
  }
