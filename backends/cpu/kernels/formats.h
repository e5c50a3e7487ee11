// The block formats as tiles of 16 interleaved rows, and how a kernel reads
// them.
//
// A tile holds the blocks of its rows one after the other along the columns.
// The blocks of one place are stored as
//
//   scales   byte or 16-bit plane after plane, each with one entry per row, in
//            the order of the format's own members;
//   then for every 32 columns:
//   high     bits of the quants above the lower ones, if the format has them,
//   low      bits of the quants.
//
// Quants come in vectors of 64 bytes. Byte 4 r + c of a vector belongs to row r
// and to column 4 g + c of the group g (0 to 7) of four columns:
//
//   8 bits: one vector per group
//   4 bits: vector h has group 2 h in the low and 2 h + 1 in the high half
//   2 bits: vector h has groups 4 h to 4 h + 3, low bits first
//   1 bit:  bit g of the only vector belongs to group g
//
// which takes exactly the bytes of the 16 blocks. pack.cc makes them.
//
// Every format decodes as scale * (u - kOffset) - minimum, with u unsigned.
#pragma once

#include "cpu/kernels/simd.h"

namespace rc::cpu::RC_CPU_LEVEL {

struct Pair {  // groups 2 h and 2 h + 1
  Vb first, second;
};

RC_SIMD Pair low_nibbles(const uint8_t* quants, int h) {
  const Vb v = load_bytes(quants + 64 * h);
  return {shr_mask<0>(v, 15), shr_mask<4>(v, 15)};
}

template <int h>
RC_SIMD Pair low_two_bits(const uint8_t* quants) {
  const Vb v = load_bytes(quants + 64 * (h / 2));
  return {shr_mask<4 * (h % 2)>(v, 3), shr_mask<4 * (h % 2) + 2>(v, 3)};
}

// Bits from a one-bit vector, moved to place `to`.
template <int h, int to>
RC_SIMD Pair one_bit(const uint8_t* bits) {
  const Vb v = load_bytes(bits);
  return {shr_mask<2 * h - to>(v, 1 << to),
          shr_mask<2 * h + 1 - to>(v, 1 << to)};
}

RC_SIMD Pair join(const Pair& a, const Pair& b) {
  return {bits_or(a.first, b.first), bits_or(a.second, b.second)};
}

template <int h>
RC_SIMD Pair nibbles_and_bit(const uint8_t* high, const uint8_t* low) {
  return join(low_nibbles(low, h), one_bit<h, 4>(high));
}

RC_SIMD Vf planes_f16(const uint8_t* block, int plane) {
  return load_f16(block + 32 * plane);
}
RC_SIMD Vf negated(const Vf& x) { return sub(splat(0), x); }

// What all formats share. `block` is the 16 blocks of one place, j counts 32
// columns within them, h pairs of groups, half the 16 columns of a scale of
// their own where kHalves.
template <int columns, int row_bytes, int scale_bytes>
struct Format {
  static constexpr int kColumns = columns;
  static constexpr int kBytes = kTileRows * row_bytes;
  // Of the quants of 32 columns.
  static constexpr int kStep =
      kTileRows * (row_bytes - scale_bytes) / (columns / 32);
  static constexpr bool kUnpacked = false;
  static constexpr bool kHalves = false;
  static constexpr bool kMinimum = false;
  static constexpr bool kWide = false;
  static constexpr int kOffset = 0;

  const uint8_t* block;

  RC_SIMD_MEMBER const uint8_t* quants(int j) const {
    return block + kTileRows * scale_bytes + j * kStep;
  }
  RC_SIMD_MEMBER Vf minimum(int, int) const { return splat(0); }
};

// How far ahead of the arithmetic weights are asked for, in bytes.
template <int rows>
constexpr int kPrefetch = rows == 1 ? 6144 : 8192;

// Asks for what is `distance` + `prefetch_offset` bytes behind step j of a
// block and, with the first step, behind the block's scales. No line may be
// left out: several rows of activations are enough for the processor to lose
// the track of the weights.
template <int distance, class Format>
RC_SIMD void prefetch_step(const Format& format, int j,
                           int64_t prefetch_offset) {
  constexpr bool one_step = Format::kColumns == 32;
  constexpr int bytes = one_step ? Format::kBytes : Format::kStep;
  const uint8_t* p =
      (one_step ? format.block : format.quants(j)) + distance + prefetch_offset;
#pragma GCC unroll 16
  for (int i = 0; i < bytes; i += 64) prefetch_later(p + i);
  if (!one_step && j == 0) {
    for (int i = 0; i < Format::kBytes - 8 * Format::kStep; i += 64) {
      prefetch_later(format.block + distance + prefetch_offset + i);
    }
  }
}

struct FormatQ4_0 : Format<32, 18, 2> {
  static constexpr int kOffset = 8;
  RC_SIMD_MEMBER explicit FormatQ4_0(const uint8_t* p) : Format{p} {}
  template <int h>
  RC_SIMD_MEMBER Pair pair(int j) const {
    return low_nibbles(quants(j), h);
  }
  RC_SIMD_MEMBER Vf scale(int, int) const { return planes_f16(block, 0); }
};

struct FormatQ4_1 : Format<32, 20, 4> {
  static constexpr bool kMinimum = true;
  RC_SIMD_MEMBER explicit FormatQ4_1(const uint8_t* p) : Format{p} {}
  template <int h>
  RC_SIMD_MEMBER Pair pair(int j) const {
    return low_nibbles(quants(j), h);
  }
  RC_SIMD_MEMBER Vf scale(int, int) const { return planes_f16(block, 0); }
  RC_SIMD_MEMBER Vf minimum(int, int) const {
    return negated(planes_f16(block, 1));
  }
};

struct FormatQ5_0 : Format<32, 22, 2> {
  static constexpr int kOffset = 16;
  RC_SIMD_MEMBER explicit FormatQ5_0(const uint8_t* p) : Format{p} {}
  template <int h>
  RC_SIMD_MEMBER Pair pair(int j) const {
    return nibbles_and_bit<h>(quants(j), quants(j) + 64);
  }
  RC_SIMD_MEMBER Vf scale(int, int) const { return planes_f16(block, 0); }
};

struct FormatQ5_1 : Format<32, 24, 4> {
  static constexpr bool kMinimum = true;
  RC_SIMD_MEMBER explicit FormatQ5_1(const uint8_t* p) : Format{p} {}
  template <int h>
  RC_SIMD_MEMBER Pair pair(int j) const {
    return nibbles_and_bit<h>(quants(j), quants(j) + 64);
  }
  RC_SIMD_MEMBER Vf scale(int, int) const { return planes_f16(block, 0); }
  RC_SIMD_MEMBER Vf minimum(int, int) const {
    return negated(planes_f16(block, 1));
  }
};

// Stored with 128 added to each quant.
struct FormatQ8_0 : Format<32, 34, 2> {
  static constexpr bool kWide = true;
  static constexpr int kOffset = 128;
  RC_SIMD_MEMBER explicit FormatQ8_0(const uint8_t* p) : Format{p} {}
  template <int h>
  RC_SIMD_MEMBER Pair pair(int j) const {
    return {load_bytes(quants(j) + 128 * h),
            load_bytes(quants(j) + 128 * h + 64)};
  }
  RC_SIMD_MEMBER Vf scale(int, int) const { return planes_f16(block, 0); }
};

constexpr int8_t kIQ4Table[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                  1,    13,   25,  38,  53,  69,  89,  113};

// kIQ4Table with 128 added.
alignas(16) constexpr uint8_t kIQ4Bytes[16] = {
    1, 24, 45, 63, 79, 93, 106, 118, 129, 141, 153, 166, 181, 197, 217, 241};
static_assert(kIQ4Bytes[0] == kIQ4Table[0] + 128);

RC_SIMD Pair looked_up(const Pair& index, const uint8_t* table) {
  return {lookup(index.first, table), lookup(index.second, table)};
}

struct FormatIQ4_NL : Format<32, 18, 2> {
  static constexpr bool kWide = true;
  static constexpr int kOffset = 128;
  RC_SIMD_MEMBER explicit FormatIQ4_NL(const uint8_t* p) : Format{p} {}
  template <int h>
  RC_SIMD_MEMBER Pair pair(int j) const {
    return looked_up(low_nibbles(quants(j), h), kIQ4Bytes);
  }
  RC_SIMD_MEMBER Vf scale(int, int) const { return planes_f16(block, 0); }
};

// The values of E2M1, doubled, with 16 added.
alignas(16) constexpr uint8_t kMXFP4Bytes[16] = {16, 17, 18, 19, 20, 22, 24, 28,
                                                 16, 15, 14, 13, 12, 10, 8,  4};

struct FormatMXFP4 : Format<32, 17, 1> {
  static constexpr int kOffset = 16;
  RC_SIMD_MEMBER explicit FormatMXFP4(const uint8_t* p) : Format{p} {}
  template <int h>
  RC_SIMD_MEMBER Pair pair(int j) const {
    return looked_up(low_nibbles(quants(j), h), kMXFP4Bytes);
  }
  // 2^(e - 128) as the product of two powers of which each is a normal number.
  RC_SIMD_MEMBER Vf scale(int, int) const {
    const Vi e = load_u8(block);
    const Vi a = shr(e, 1);
    const Vi b = sub(e, a);
    const Vi bias = splat_int(127 - 64);
    return mul(as_float(shl<23>(add(a, bias))),
               as_float(shl<23>(add(b, bias))));
  }
};

struct FormatQ2_K : Format<256, 84, 20> {
  static constexpr bool kHalves = true;
  static constexpr bool kMinimum = true;
  Vf d, m;
  RC_SIMD_MEMBER explicit FormatQ2_K(const uint8_t* p)
      : Format{p}, d(planes_f16(p, 8)), m(planes_f16(p + 32, 8)) {}
  template <int h>
  RC_SIMD_MEMBER Pair pair(int j) const {
    return low_two_bits<h>(quants(j));
  }
  RC_SIMD_MEMBER Vi plane(int j, int half) const {
    return load_u8(block + 16 * (2 * j + half));
  }
  RC_SIMD_MEMBER Vf scale(int j, int half) const {
    return mul(d, to_float(bits_and(plane(j, half), splat_int(15))));
  }
  RC_SIMD_MEMBER Vf minimum(int j, int half) const {
    return mul(m, to_float(shr(plane(j, half), 4)));
  }
};

struct FormatQ3_K : Format<256, 110, 14> {
  static constexpr bool kHalves = true;
  static constexpr int kOffset = 4;
  Vf d;
  RC_SIMD_MEMBER explicit FormatQ3_K(const uint8_t* p)
      : Format{p}, d(planes_f16(p, 6)) {}
  template <int h>
  RC_SIMD_MEMBER Pair pair(int j) const {
    return join(low_two_bits<h>(quants(j) + 64), one_bit<h, 2>(quants(j)));
  }
  RC_SIMD_MEMBER Vf scale(int j, int half) const {
    const int g = 2 * j + half;
    const Vi low = bits_and(shr(load_u8(block + 16 * (g % 8)), 4 * (g / 8)),
                            splat_int(15));
    const Vi high = bits_and(
        shr(load_u8(block + 16 * (8 + g % 4)), 2 * (g / 4)), splat_int(3));
    return mul(d, to_float(sub(bits_or(low, shl<4>(high)), splat_int(32))));
  }
};

// The six-bit scales and minima of Q4_K and Q5_K.
struct KScales {
  const uint8_t* planes;
  RC_SIMD_MEMBER Vi upper(int plane) const {
    return shl<4>(shr(load_u8(planes + 16 * plane), 6));
  }
  RC_SIMD_MEMBER Vi scale(int j) const {
    if (j < 4) return bits_and(load_u8(planes + 16 * j), splat_int(63));
    return bits_or(bits_and(load_u8(planes + 16 * (j + 4)), splat_int(15)),
                   upper(j - 4));
  }
  RC_SIMD_MEMBER Vi minimum(int j) const {
    if (j < 4) return bits_and(load_u8(planes + 16 * (j + 4)), splat_int(63));
    return bits_or(shr(load_u8(planes + 16 * (j + 4)), 4), upper(j));
  }
};

template <int row_bytes>
struct FormatK : Format<256, row_bytes, 16> {
  static constexpr bool kMinimum = true;
  Vf d, m;
  RC_SIMD_MEMBER explicit FormatK(const uint8_t* p)
      : Format<256, row_bytes, 16>{p},
        d(planes_f16(p, 0)),
        m(planes_f16(p, 1)) {}
  RC_SIMD_MEMBER Vf scale(int j, int) const {
    return mul(d, to_float(KScales{this->block + 64}.scale(j)));
  }
  RC_SIMD_MEMBER Vf minimum(int j, int) const {
    return mul(m, to_float(KScales{this->block + 64}.minimum(j)));
  }
};

struct FormatQ4_K : FormatK<144> {
  RC_SIMD_MEMBER explicit FormatQ4_K(const uint8_t* p) : FormatK(p) {}
  template <int h>
  RC_SIMD_MEMBER Pair pair(int j) const {
    return low_nibbles(quants(j), h);
  }
};

struct FormatQ5_K : FormatK<176> {
  RC_SIMD_MEMBER explicit FormatQ5_K(const uint8_t* p) : FormatK(p) {}
  template <int h>
  RC_SIMD_MEMBER Pair pair(int j) const {
    return nibbles_and_bit<h>(quants(j), quants(j) + 64);
  }
};

struct FormatQ6_K : Format<256, 210, 18> {
  static constexpr bool kHalves = true;
  static constexpr int kOffset = 32;
  Vf d;
  RC_SIMD_MEMBER explicit FormatQ6_K(const uint8_t* p)
      : Format{p}, d(planes_f16(p, 8)) {}
  template <int h>
  RC_SIMD_MEMBER Pair pair(int j) const {
    const Vb v = load_bytes(quants(j) + 64 * (h / 2));
    constexpr int shift = 4 * (h % 2);
    return join(low_nibbles(quants(j) + 128, h),
                {shr_mask<shift - 4>(v, 48), shr_mask<shift - 2>(v, 48)});
  }
  RC_SIMD_MEMBER Vf scale(int j, int half) const {
    return mul(d,
               to_float(load_s8((const int8_t*)block + 16 * (2 * j + half))));
  }
};

struct FormatIQ4_XS : Format<256, 136, 8> {
  static constexpr bool kWide = true;
  static constexpr int kOffset = 128;
  Vf d;
  RC_SIMD_MEMBER explicit FormatIQ4_XS(const uint8_t* p)
      : Format{p}, d(planes_f16(p, 0)) {}
  template <int h>
  RC_SIMD_MEMBER Pair pair(int j) const {
    return looked_up(low_nibbles(quants(j), h), kIQ4Bytes);
  }
  RC_SIMD_MEMBER Vf scale(int j, int) const {
    // The planes of scales_high are its two bytes, low byte first.
    const Vi high = bits_and(
        shr(load_u8(block + 32 + 16 * (j / 4)), 2 * (j % 4)), splat_int(3));
    const Vi low = bits_and(
        shr(load_u8(block + 64 + 16 * (j / 2)), 4 * (j % 2)), splat_int(15));
    return mul(d, to_float(sub(bits_or(low, shl<4>(high)), splat_int(32))));
  }
};

}  // namespace rc::cpu::RC_CPU_LEVEL
