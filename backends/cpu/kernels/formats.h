// The block formats as tiles of 16 interleaved rows, and how a kernel reads
// them.
//
// A tile holds the blocks of its rows one after the other along the columns.
// The blocks of one place are stored as
//
//   scales   byte or 16-bit plane after plane, each with one entry per row, in
//            the order that they have in a block;
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
//   3 bits: vector h, of three, has group 2 h in bits 0 to 2 and group 2 h + 1
//           in bits 4 to 6; bit h of groups 6 and 7 is in its bits 3 and 7
//
// Quants of two bits and one above them lie as three bits. A bit above the
// lower ones that eight columns share lies before these, once: number h of four
// of 16 bits has that of row r and of groups 2 h and 2 h + 1 in bit r.
// Otherwise this takes exactly the bytes of the 16 blocks. pack.cc makes them.
//
// Every format decodes as scale * (u - kOffset) - minimum, with u unsigned.
// The numbers and their meaning come from src/tensor/formats.
#pragma once

#include "cpu/kernels/byte_numbers.h"
#include "cpu/kernels/described.h"
#include "cpu/kernels/simd.h"

namespace rc::cpu::RC_CPU_LEVEL {

struct Pair {  // groups 2 h and 2 h + 1
  Vb first, second;
};

RC_SIMD Pair low_nibbles(const uint8_t* quants, int h) {
  const Vb v = load_bytes(quants + 64 * h);
  return {shr_mask<0>(v, 15), shr_mask<4>(v, 15)};
}

// Two bits, moved to place `to`.
template <int h, int to>
RC_SIMD Pair two_bits(const uint8_t* bits) {
  const Vb v = load_bytes(bits + 64 * (h / 2));
  return {shr_mask<4 * (h % 2) - to>(v, 3 << to),
          shr_mask<4 * (h % 2) + 2 - to>(v, 3 << to)};
}

// Bits from a one-bit vector, moved to place `to`.
template <int h, int to>
RC_SIMD Pair one_bit(const uint8_t* bits) {
  const Vb v = load_bytes(bits);
  return {shr_mask<2 * h - to>(v, 1 << to),
          shr_mask<2 * h + 1 - to>(v, 1 << to)};
}

// Three bits each, whatever bit 3 is above them where `rest` is 8.
template <int h, int rest>
RC_SIMD Pair three_bits(const uint8_t* quants) {
  if constexpr (h < 3) {
    const Vb v = load_bytes(quants + 64 * h);
    return {shr_mask<0>(v, 7 + rest), shr_mask<4>(v, 7 + rest)};
  } else {
    const Vb v = bits_or(bits_or(shr_mask<3>(load_bytes(quants), 0x11),
                                 shr_mask<2>(load_bytes(quants + 64), 0x22)),
                         shr_mask<1>(load_bytes(quants + 128), 0x44));
    return {shr_mask<0>(v, 7), shr_mask<4>(v, 7)};
  }
}

// A bit that the columns of both groups share, moved to place `to`.
template <int h, int to>
RC_SIMD Vb shared_bit(const uint8_t* bits) {
  uint16_t lanes;
  __builtin_memcpy(&lanes, bits + 2 * h, sizeof(lanes));
  return lane_bytes(lanes, 1 << to);
}

RC_SIMD Pair join(const Pair& a, const Pair& b) {
  return {bits_or(a.first, b.first), bits_or(a.second, b.second)};
}

RC_SIMD Vf negated(const Vf& x) { return sub(splat(0), x); }

RC_SIMD Pair looked_up(const Pair& index, const uint8_t* table) {
  return {lookup(index.first, table), lookup(index.second, table)};
}

// 2^(e - 128) as the product of two powers of which each is a normal number.
RC_SIMD Vf powers_of_two(const uint8_t* exponents) {
  const Vi e = load_u8(exponents);
  const Vi a = shr(e, 1);
  const Vi b = sub(e, a);
  const Vi bias = splat_int(127 - 64);
  return mul(as_float(shl<23>(add(a, bias))), as_float(shl<23>(add(b, bias))));
}

// Bytes of BitKind::kE4M3, times 2^exponent. Their exponents become those of an
// f32; where one is 0 the number has a one before its bits then, which must go,
// and is half as large. No number on the way is subnormal, which would take
// some processors a hundred times as long.
template <int exponent>
RC_SIMD Vf scaled_e4m3(const Vi& bytes) {
  constexpr int more = 127 + 2 + exponent;      // than the byte's exponent
  constexpr float least = power(2 + exponent);  // of what has exponent 0
  const Vi bits = shl<20>(bits_and(bytes, splat_int(127)));
  const Vf x = as_float(add(bits, splat_int(more << 23)));
  return smallest(x, fma(x, splat(2), splat(-2 * least)));
}

// The distance at which weights are prefetched ahead of the arithmetic, in
// bytes.
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

// The factors of a block, which lie in `planes` from byte `first_byte` on.
template <BitNumber number, int first_byte, int count>
struct FactorPlanes {
  const uint8_t* planes;

  // Of numbers from `first` on number i.
  template <BitPlane plane, int first>
  RC_SIMD_MEMBER Numbers bits(int i) const {
    if constexpr (is_run(plane, first, count)) {
      constexpr BitPlace place = place_of(plane, first);
      return some_bits<place.shift, plane.width>(load_numbers(
          planes + kTileRows * (place.byte - first_byte + i - first)));
    } else {
      constexpr int slots = 8 / plane.width;
      static_assert(is_unbroken(plane));
      const int byte = plane.at - first_byte +
                       i / (slots * plane.stride) * plane.stride +
                       i % plane.stride;
      return some_bits(load_numbers(planes + kTileRows * byte),
                       i / plane.stride % slots * plane.width, plane.width);
    }
  }

  RC_SIMD_MEMBER Vi at(int i) const {
    if constexpr (number.is_signed) {
      return load_signed_numbers(planes +
                                 kTileRows * (number.low.at - first_byte + i));
    } else if constexpr (number.high.width == 0) {
      static_assert(number.zero == 0);
      const Vi all =
          integers(number.low.width == 8 ? load_numbers(planes + kTileRows * i)
                                         : bits<number.low, 0>(i));
      if constexpr (number.kind != BitKind::kOdd) return all;
      return add(add(all, all), splat_int(1));
    } else {
      constexpr int whole = undivided(number);
      if constexpr (whole > 0) {
        constexpr BitPlace place = place_of(number.low, 0);
        static_assert(number.zero == 0 && place.shift == 0);
        if (i < whole) {
          return integers(some_bits<0, width_of(number)>(load_numbers(
              planes + kTileRows * (place.byte - first_byte + i))));
        }
      }
      const Numbers low = bits<number.low, whole>(i);
      const Numbers high = bits<number.high, whole>(i);
      const Vi all = integers(join<number.low.width>(low, high));
      if constexpr (number.zero == 0) return all;
      return sub(all, splat_int(number.zero));
    }
  }
};

// The tile of format number `index`. `block` is the 16 blocks of one place, j
// counts 32 columns within them, h pairs of groups; with kHalves, half selects
// 16 columns, which have a separate scale.
template <int index>
struct Format {
  static constexpr int kIndex = index;
  static constexpr BlockFormat kFormat = kBlockFormats[index];
  static constexpr int kColumns = kFormat.elements;
  static constexpr int kBytes = kTileRows * bytes_without_copies(kFormat);
  // Of the quants of 32 columns.
  static constexpr int kStep = step_bytes(kFormat);
  static constexpr bool kUnpacked = false;
  static constexpr bool kHalves = kFormat.group == 16;
  static constexpr bool kMinimum = kFormat.minimum.sign != Minimum::kNone;
  static constexpr bool kWide = is_wide(kFormat);
  static constexpr int kOffset = offset_of(kFormat);
  static constexpr int kLargest = largest_of(kFormat);
  static_assert(kFormat.group == 0 || kFormat.group == 16 ||
                kFormat.group == 32);

  const uint8_t* block;
  Vf d, m;  // of blocks of more than 32 columns

  RC_SIMD_MEMBER explicit Format(const uint8_t* p) : block(p) {
    if constexpr (kColumns > 32) {
      d = whole_scale();
      if constexpr (kMinimum) m = whole_minimum();
    }
  }

  RC_SIMD_MEMBER const uint8_t* quants(int j) const {
    return block + (kBytes - kColumns / 32 * kStep) + j * kStep;
  }

  template <int h>
  RC_SIMD_MEMBER Pair pair(int j) const {
    constexpr int low_width = kFormat.quant.low.width;
    constexpr int high_width = kFormat.quant.high.width;
    constexpr bool has_table = kFormat.table != ValueTable::kNone;
    const uint8_t* high = quants(j);
    const uint8_t* low = high + kStep - kTileRows * 4 * low_width;
    if constexpr (low_width == 8) {
      return {load_bytes(low + 128 * h), load_bytes(low + 128 * h + 64)};
    } else {
      Pair pair;
      if constexpr (has_three_bits(kFormat)) {
        constexpr int rest = has_table ? 8 : 0;
        pair = three_bits<h, rest>(high);
      } else if constexpr (low_width == 4) {
        pair = low_nibbles(low, h);
      } else if constexpr (low_width == 2) {
        pair = two_bits<h, 0>(low);
      } else {
        pair = one_bit<h, 0>(low);
      }
      if constexpr (has_three_bits(kFormat)) {
        // The high one is there already.
      } else if constexpr (kFormat.high_run == 8) {
        static_assert(high_width == 1);
        const Vb bit = shared_bit<h, low_width>(high);
        pair = join(pair, {bit, bit});
      } else if constexpr (high_width == 1) {
        pair = join(pair, one_bit<h, low_width>(high));
      } else if constexpr (high_width == 2) {
        pair = join(pair, two_bits<h, low_width>(high));
      }
      if constexpr (has_table) {
        pair = looked_up(pair, kEntries<index>.bytes);
      }
      return pair;
    }
  }

  RC_SIMD_MEMBER Vf scale(int j, int half) const {
    if constexpr (kFormat.scale_factor.kind == BitKind::kE4M3) {
      static_assert(kFormat.scale.kind == ScaleKind::kOne);
      return scaled_e4m3<kFormat.scale.exponent>(
          factor<kFormat.scale_factor>(j, half));
    } else if constexpr (kColumns == 32) {
      return whole_scale();
    } else if constexpr (kFormat.group == 0) {
      return d;
    } else {
      return mul(d, to_float(factor<kFormat.scale_factor>(j, half)));
    }
  }

  RC_SIMD_MEMBER Vf minimum(int j, int half) const {
    if constexpr (!kMinimum) {
      return splat(0);
    } else if constexpr (kColumns == 32) {
      return whole_minimum();
    } else if constexpr (kFormat.group == 0) {
      return m;
    } else {
      return mul(m, to_float(factor<kFormat.minimum_factor>(j, half)));
    }
  }

 private:
  RC_SIMD_MEMBER Vf whole_scale() const {
    constexpr int at = plane_at(kFormat, kFormat.scale.at);
    static_assert(kFormat.scale.kind != ScaleKind::kF32);
    if constexpr (kFormat.scale.kind == ScaleKind::kPowerOfTwo) {
      return powers_of_two(block + at);
    } else if constexpr (kFormat.scale.exponent != 0) {
      constexpr float unit = power(kFormat.scale.exponent);
      return mul(load_f16(block + at), splat(unit));
    } else {
      return load_f16(block + at);
    }
  }
  RC_SIMD_MEMBER Vf whole_minimum() const {
    constexpr int at = plane_at(kFormat, kFormat.minimum.at);
    const Vf all = load_f16(block + at);
    if constexpr (kFormat.minimum.sign == Minimum::kAdded) return negated(all);
    return all;
  }

  // Of the groups of j and half.
  template <BitNumber number>
  RC_SIMD_MEMBER Vi factor(int j, int half) const {
    // Factors lie together, without quants between them.
    constexpr int first =
        number.high.width > 0 && number.high.at < number.low.at ? number.high.at
                                                                : number.low.at;
    constexpr int count = kColumns / kFormat.group;
    constexpr int at = plane_at(kFormat, first);
    const FactorPlanes<number, first, count> factors = {block + at};
    return factors.at(kHalves ? 2 * j + half : j);
  }
};

// Whether weights of format number `index` lie in tiles as they are.
template <int index>
constexpr bool kPacked = !kBlockFormats[index].of_activations;

// Gives what `Of` gives for the format of type `dtype`; nullptr if it has none
// here.
template <class Function, template <class> class Of, int index = 0>
Function of_format(rc_dtype dtype) {
  if constexpr (index == kBlockFormatCount) {
    return nullptr;
  } else {
    if constexpr (kPacked<index>) {
      if (kBlockFormats[index].dtype == dtype) {
        return Of<Format<index>>::kFunction;
      }
    }
    return of_format<Function, Of, index + 1>(dtype);
  }
}

}  // namespace rc::cpu::RC_CPU_LEVEL
