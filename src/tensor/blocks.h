// Layout of the blocks that the quantized types are stored in, as files hold
// them: little-endian, without padding, at any address.
//
// A block decodes to 32 or, for the K types and IQ4_XS, to 256 elements. The
// formats come from ggml (https://github.com/ggml-org/ggml, ggml-common.h);
// src/tensor/decode.cc is their definition here. Backends include this header.
#pragma once

#include <bit>
#include <cstdint>

#include "tensor/half.h"

namespace rc {

static_assert(std::endian::native == std::endian::little,
              "blocks are read in place");

inline constexpr int kSmallBlock = 32;
inline constexpr int kLargeBlock = 256;

#pragma pack(push, 1)

// Members of type uint16_t named scale, minimum, min_scale and sum are IEEE
// binary16. A byte of `quants` with two elements holds the earlier one in its
// low bits.

// scale * (q - 8). Byte j holds elements j and j + 16.
struct BlockQ4_0 {
  uint16_t scale;
  uint8_t quants[16];
};
static_assert(sizeof(BlockQ4_0) == 18);

// scale * q + minimum, elements as in Q4_0.
struct BlockQ4_1 {
  uint16_t scale;
  uint16_t minimum;
  uint8_t quants[16];
};
static_assert(sizeof(BlockQ4_1) == 20);

// scale * (q - 16). The low four bits are as in Q4_0; bit i of `high` is the
// fifth bit of element i.
struct BlockQ5_0 {
  uint16_t scale;
  uint32_t high;
  uint8_t quants[16];
};
static_assert(sizeof(BlockQ5_0) == 22);

// scale * q + minimum, elements as in Q5_0.
struct BlockQ5_1 {
  uint16_t scale;
  uint16_t minimum;
  uint32_t high;
  uint8_t quants[16];
};
static_assert(sizeof(BlockQ5_1) == 24);

// scale * q.
struct BlockQ8_0 {
  uint16_t scale;
  int8_t quants[32];
};
static_assert(sizeof(BlockQ8_0) == 34);

// scale * q; `sum` is scale * (sum of all q), for products with Q4_1.
struct BlockQ8_1 {
  uint16_t scale;
  uint16_t sum;
  int8_t quants[32];
};
static_assert(sizeof(BlockQ8_1) == 36);

// Sixteen groups of 16: scale * (scales & 15) * q - min_scale * (scales >> 4).
// Each half of 128 elements has 32 bytes of quants; bits 2g and 2g + 1 of its
// byte l are element 32 g + l.
struct BlockQ2_K {
  uint8_t scales[16];
  uint8_t quants[64];
  uint16_t scale;
  uint16_t min_scale;
};
static_assert(sizeof(BlockQ2_K) == 84);

// Sixteen groups of 16: scale * (group's scale - 32) * (q - 4), the low two
// bits of q as in Q2_K; bit g of high[l] is the third bit of element
// 32 g + l. The six-bit scales are unpacked by q3_k_scale.
struct BlockQ3_K {
  uint8_t high[32];
  uint8_t quants[64];
  uint8_t scales[12];
  uint16_t scale;
};
static_assert(sizeof(BlockQ3_K) == 110);

// Eight groups of 32: scale * group's scale * q - min_scale * group's minimum,
// both unpacked by k_scale_min. Each 64 elements have 32 bytes of quants: low
// halves first.
struct BlockQ4_K {
  uint16_t scale;
  uint16_t min_scale;
  uint8_t scales[12];
  uint8_t quants[128];
};
static_assert(sizeof(BlockQ4_K) == 144);

// As Q4_K; bit g of high[l] is the fifth bit of element 32 g + l.
struct BlockQ5_K {
  uint16_t scale;
  uint16_t min_scale;
  uint8_t scales[12];
  uint8_t high[32];
  uint8_t quants[128];
};
static_assert(sizeof(BlockQ5_K) == 176);

// Sixteen groups of 16: scale * scales * (q - 32). Each half of 128 elements
// has 64 bytes of low bits (low halves are elements 0 to 63, high halves 64 to
// 127) and 32 bytes of high bits (bits 2g and 2g + 1 of byte l belong to
// element 32 g + l).
struct BlockQ6_K {
  uint8_t low[128];
  uint8_t high[64];
  int8_t scales[16];
  uint16_t scale;
};
static_assert(sizeof(BlockQ6_K) == 210);

// scale * q; sums[g] is the sum of q over elements 16 g to 16 g + 15.
struct BlockQ8_K {
  float scale;
  int8_t quants[256];
  int16_t sums[16];
};
static_assert(sizeof(BlockQ8_K) == 292);

// scale * kIQ4Values[q], elements as in Q4_0.
struct BlockIQ4_NL {
  uint16_t scale;
  uint8_t quants[16];
};
static_assert(sizeof(BlockIQ4_NL) == 18);

// Eight groups of 32: scale * (group's scale - 32) * kIQ4Values[q], the
// elements of each group as in Q4_0. The low four bits of the groups' scales
// are in scales_low, two to a byte, the high two in scales_high.
struct BlockIQ4_XS {
  uint16_t scale;
  uint16_t scales_high;
  uint8_t scales_low[4];
  uint8_t quants[128];
};
static_assert(sizeof(BlockIQ4_XS) == 136);

// 2^(exponent - 128) * kMXFP4Values[q], elements as in Q4_0 (OCP Microscaling
// Formats 1.0; kMXFP4Values holds E2M1 doubled, hence 128 and not 127).
struct BlockMXFP4 {
  uint8_t exponent;
  uint8_t quants[16];
};
static_assert(sizeof(BlockMXFP4) == 17);

#pragma pack(pop)

inline constexpr int8_t kIQ4Values[16] = {
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

inline constexpr int8_t kMXFP4Values[16] = {0, 1,  2,  3,  4,  6,  8,  12,
                                            0, -1, -2, -3, -4, -6, -8, -12};

// Six-bit scale and minimum of a group of 32 in Q4_K and Q5_K.
struct ScaleMin {
  uint8_t scale;
  uint8_t minimum;
};

// `scales` are the 12 bytes of the block, group is 0 to 7. Groups 0 to 3 have
// bytes 0-3 (scale) and 4-7 (minimum) to themselves; their upper two bits are
// those of groups 4 to 7, whose lower four are the halves of bytes 8-11.
inline ScaleMin k_scale_min(const uint8_t* scales, int group) {
  if (group < 4) {
    return {static_cast<uint8_t>(scales[group] & 63),
            static_cast<uint8_t>(scales[group + 4] & 63)};
  }
  return {static_cast<uint8_t>((scales[group + 4] & 15) |
                               ((scales[group - 4] >> 6) << 4)),
          static_cast<uint8_t>((scales[group + 4] >> 4) |
                               ((scales[group] >> 6) << 4))};
}

// Scale of group 0 to 15 of a Q3_K block, -32 to 31. The lower four bits are
// the halves of bytes 0-7 (groups 0-7 low, 8-15 high), the upper two are in
// bytes 8-11: groups i, i + 4, i + 8, i + 12 in byte 8 + i.
inline int q3_k_scale(const uint8_t* scales, int group) {
  const int low = group < 8 ? scales[group] & 15 : scales[group - 8] >> 4;
  const int high = (scales[8 + group % 4] >> (2 * (group / 4))) & 3;
  return (low | (high << 4)) - 32;
}

// Scale of group 0 to 7 of an IQ4_XS block, -32 to 31.
inline int iq4_xs_scale(const BlockIQ4_XS& block, int group) {
  const int low = (block.scales_low[group / 2] >> (4 * (group % 2))) & 15;
  const int high = (block.scales_high >> (2 * group)) & 3;
  return (low | (high << 4)) - 32;
}

// Q2_K, Q3_K and Q6_K have sixteen groups of 16 elements, whose quants lie in
// two halves of 128 elements, each of four runs of 32: where group 0 to 15
// begins.
struct GroupPlace {
  int half;  // 0 or 1
  int run;   // 0 to 3
  int byte;  // within the run, 0 or 16
};

inline GroupPlace place_of_group(int group) {
  return {group / 8, group % 8 / 2, 16 * (group % 2)};
}

// 2^(exponent - 128); the two smallest are subnormal.
inline float mxfp4_scale(uint8_t exponent) {
  const uint32_t bits = exponent < 2
                            ? 0x00200000u << exponent
                            : static_cast<uint32_t>(exponent - 1) << 23;
  return std::bit_cast<float>(bits);
}

}  // namespace rc
