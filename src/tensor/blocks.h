// Blocks of the quantized types as structs, for what writes them: encode.cc,
// and tests. Readers go by the descriptions of formats/formats.h.
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
// 32 g + l. The six-bit scales are 16 times four bits, then 16 times two.
struct BlockQ3_K {
  uint8_t high[32];
  uint8_t quants[64];
  uint8_t scales[12];
  uint16_t scale;
};
static_assert(sizeof(BlockQ3_K) == 110);

// Eight groups of 32: scale * group's scale * q - min_scale * group's minimum,
// of six bits each (kSixBitScales). Each 64 elements have 32 bytes of quants:
// low halves first.
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

// scale * iq4[q] (kValueTables), elements as in Q4_0.
struct BlockIQ4_NL {
  uint16_t scale;
  uint8_t quants[16];
};
static_assert(sizeof(BlockIQ4_NL) == 18);

// Eight groups of 32: scale * (group's scale - 32) * iq4[q], the elements of
// each group as in Q4_0. The low four bits of the groups' scales
// are in scales_low, two to a byte, the high two in scales_high.
struct BlockIQ4_XS {
  uint16_t scale;
  uint16_t scales_high;
  uint8_t scales_low[4];
  uint8_t quants[128];
};
static_assert(sizeof(BlockIQ4_XS) == 136);

// 2^(exponent - 128) * e2m1[q], elements as in Q4_0 (OCP Microscaling Formats
// 1.0; the table holds E2M1 doubled, hence 128 and not 127).
struct BlockMXFP4 {
  uint8_t exponent;
  uint8_t quants[16];
};
static_assert(sizeof(BlockMXFP4) == 17);

#pragma pack(pop)

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

}  // namespace rc
