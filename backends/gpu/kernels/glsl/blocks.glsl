// Weights as they lie on the device, and their decoding. backends/vulkan/
// format.h says which numbers belong to which type.
//
// A weight is cut into tiles of kTileRows rows, one for each lane, and the
// columns into groups of 32. A tile is three sections, each interleaved by row:
//
//   quads   of each group `quads` times four words: the elements' 4, 8, 16 or
//           32 bits, beginning with the lowest bits
//   planes  of each group the words of bits that other types of blocks keep
//           apart: two bits of each element (16 to a word), one bit (32)
//   scales  words as `scaling` says
//
// The conformance suite holds every type against src/tensor/decode.cc, bit for
// bit.
#include "math.glsl"
#include "tables.glsl"

CONSTANT(1, uint, kTileRows, 8)
CONSTANT(2, uint, kElementBits, 4)  // in quads; 0: none
CONSTANT(3, uint, kLowPlane, 0)  // 1 or 2: lowest bits
CONSTANT(4, uint, kHighPlane, 0)  // 1 or 2: bits above
CONSTANT(5, uint, kScaling, 0)
CONSTANT(6, int, kZero, 0)  // subtracted from elements
CONSTANT(7, uint, kMeaning, 0)  // of an element's bits

// kScaling, with what a word of the section holds.
const uint kUnscaled = 0;
const uint kHalf = 1;        // two binary16, for two groups
const uint kHalfPair = 2;    // binary16 scale and minimum of a group
const uint kBrain = 3;       // two bfloat16, for two groups
const uint kSixteenths = 4;  // of eight groups five words: binary16 scale; of
                             // each half group a signed byte that multiplies it
const uint kThirds = 5;      // the same, but scale and minimum; of each group
                             // two bytes that multiply these
const uint kNibbles = 6;     // of each half group two nibbles that do
const uint kSingle = 7;      // of eight groups an f32
const uint kBrainPair = 8;   // bfloat16 scales of both halves of a group
const uint kSingleSixteenths = 9;  // as kSixteenths, but the scale is an f32

// kMeaning; further ones are numbers of tables.
const uint kInteger = 0;  // unsigned if 4 bits or of planes, else signed
const uint kF32 = 64;
const uint kF16 = 65;
const uint kBF16 = 66;

#define kQuads (kElementBits / 4)
#define kPlanes (kLowPlane + kHighPlane)
#define kHasMinimum \
  (kScaling == kHalfPair || kScaling == kThirds || kScaling == kNibbles)
// Each half of a group has a separate scale.
#define kHalves                                           \
  (kScaling == kSixteenths || kScaling == kNibbles ||     \
   kScaling == kBrainPair || kScaling == kSingleSixteenths)

INPUT(3, weight_words)
INPUT_QUADS(4, weight_quads)

// One group of one row, as read; the arrays are as long as any type needs.
struct Raw {
  uvec4 quads[8];
  uint planes[3];
  vec2 scale;    // of the two halves
  vec2 minimum;  // is added
};

Raw read_group(uint tile, uint row, uint group, uint groups) {
  const uint scale_words =
      kScaling == kUnscaled                       ? 0
      : kScaling == kHalf || kScaling == kBrain   ? (groups + 1) / 2
      : kScaling == kHalfPair                     ? groups
      : kScaling == kBrainPair                    ? groups
      : kScaling == kSingle                       ? (groups + 7) / 8
                                                  : (groups + 7) / 8 * 5;
  const uint tile_words =
      (groups * (4 * kQuads + kPlanes) + scale_words) * kTileRows;
  Raw raw;
  uint at = tile * tile_words;
  const uint quad = at / 4 + group * kQuads * kTileRows + row;
  [[unroll]] for (uint i = 0; i < kQuads; ++i) {
    raw.quads[i] = QUAD(weight_quads, quad + i * kTileRows);
  }
  at += groups * kQuads * kTileRows * 4 + row;
  [[unroll]] for (uint i = 0; i < kPlanes; ++i) {
    raw.planes[i] = WORD(weight_words, at + (group * kPlanes + i) * kTileRows);
  }
  at += groups * kPlanes * kTileRows;

  raw.scale = vec2(1);
  raw.minimum = vec2(0);
  if (kScaling == kHalf || kScaling == kBrain) {
    const uint word = WORD(weight_words, at + group / 2 * kTileRows);
    const uint bits = (word >> (group % 2 * 16)) & 0xFFFFu;
    raw.scale = vec2(kScaling == kHalf ? half_to_float(bits)
                                       : uintBitsToFloat(bits << 16));
  } else if (kScaling == kHalfPair) {
    const uint word = WORD(weight_words, at + group * kTileRows);
    raw.scale = vec2(half_to_float(word & 0xFFFFu));
    raw.minimum = vec2(half_to_float(word >> 16));
  } else if (kScaling == kBrainPair) {
    const uint word = WORD(weight_words, at + group * kTileRows);
    raw.scale = vec2(uintBitsToFloat(word << 16),
                     uintBitsToFloat(word & 0xFFFF0000u));
  } else if (kScaling == kSingle) {
    raw.scale = vec2(NUMBER(weight_words, at + group / 8 * kTileRows));
  } else if (kScaling != kUnscaled) {
    at += group / 8 * 5 * kTileRows;
    const uint both = WORD(weight_words, at);
    const float scale = kScaling == kSingleSixteenths
                            ? uintBitsToFloat(both)
                            : half_to_float(both & 0xFFFFu);
    const uint word = WORD(weight_words, at + (1 + group % 8 / 2) * kTileRows);
    const uint bits = word >> (group % 2 * 16);
    if (kScaling == kSixteenths || kScaling == kSingleSixteenths) {
      raw.scale = scale * vec2(int(bits << 24) >> 24, int(bits << 16) >> 24);
    } else {
      const float minimum = -half_to_float(both >> 16);
      if (kScaling == kThirds) {
        raw.scale = vec2(scale * float(bits & 0xFFu));
        raw.minimum = vec2(minimum * float((bits >> 8) & 0xFFu));
      } else {
        raw.scale = scale * vec2(bits & 15u, (bits >> 8) & 15u);
        raw.minimum = minimum * vec2((bits >> 4) & 15u, (bits >> 12) & 15u);
      }
    }
  }
  return raw;
}

// Element e, before scale and minimum. e is known when the shader is compiled.
float element(Raw raw, uint e) {
  if (kElementBits == 32) return uintBitsToFloat(raw.quads[e / 4][e % 4]);
  if (kElementBits == 16) {
    const uint word = raw.quads[e / 8][e / 2 % 4];
    if (kMeaning == kBF16) {
      return uintBitsToFloat(e % 2 == 0 ? word << 16 : word & 0xFFFF0000u);
    }
    if (kMeaning == kF16) {
      return half_to_float(e % 2 == 0 ? word & 0xFFFFu : word >> 16);
    }
    return float(int(word << (16 - e % 2 * 16)) >> 16);
  }
  if (kElementBits == 8) {
    const uint word = raw.quads[e / 16][e / 4 % 4];
    return float(int(word << (24 - e % 4 * 8)) >> 24);
  }
  uint bits;
  if (kElementBits == 4) {
    bits = (raw.quads[0][e / 8] >> (e % 8 * 4)) & 15u;
  } else if (kLowPlane == 1) {
    bits = (raw.planes[0] >> e) & 1u;
  } else {
    bits = (raw.planes[e / 16] >> (e % 16 * 2)) & 3u;
  }
  const uint below = kElementBits == 4 ? 4 : 2;
  if (kHighPlane == 1) {
    const uint plane = raw.planes[kLowPlane];
    bits |= (e >= below ? plane >> (e - below) : plane << (below - e)) &
            (1u << below);
  } else if (kHighPlane == 2) {
    const uint plane = raw.planes[kLowPlane + e / 16];
    const uint place = e % 16 * 2;
    bits |= (place >= below ? plane >> (place - below)
                            : plane << (below - place)) &
            (3u << below);
  }
  if (kMeaning != kInteger) return float(look_up(table_of(kMeaning), bits));
  return float(int(bits) - kZero);
}
