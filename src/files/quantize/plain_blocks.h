// Blocks of 32 elements whose scales follow from the elements without a search
// and without weights: eight side by side.
#pragma once

#include <algorithm>
#include <cstring>

#include "files/quantize/block_encoders.h"
#include "tensor/blocks.h"

namespace rc::quantize {

struct PlainBlocks {
  alignas(32) float values[kSmallBlock][kLanes];
  int count;

  RC_LANES_INLINE PlainBlocks(const float* from, int64_t blocks)
      : count(static_cast<int>(std::min<int64_t>(kLanes, blocks))) {
    load_groups<kSmallBlock>(from, count, 0.0f, values);
  }
  RC_LANES_INLINE Lanes x(int i) const { return load_lanes(values[i]); }
};

// Numbers of which the lower four or five bits count, as blocks of `stride`
// bytes have them.
struct PlainQuants {
  LaneMask numbers[kSmallBlock];

  // The lower four bits of element i, those of element i + 16 above them.
  RC_LANES_INLINE void put_nibbles(int count, int stride, uint8_t* to) const {
    for (int i = 0; i < kSmallBlock / 2; i += 4) {
      LaneMask bytes[4];
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) {
        bytes[k] = (numbers[i + k] & 15) |
                   (numbers[i + k + kSmallBlock / 2] & 15) << 4;
      }
      put_four(bytes[0], bytes[1], bytes[2], bytes[3], count, stride, to + i);
    }
  }
  RC_LANES_INLINE void put_fifth_bits(int count, int stride,
                                      uint8_t* to) const {
    LaneMask bits = {};
#pragma GCC unroll 32
    for (int i = 0; i < kSmallBlock; ++i) {
      bits |= ((numbers[i] >> 4) & 1) << i;
    }
    for (int g = 0; g < count; ++g) {
      const int32_t four = bits[g];
      std::memcpy(to + g * stride, &four, sizeof four);
    }
  }
};

// Blocks with a scale and a minimum that is added: the line that is best for
// the nearest quants of one whose steps are a little smaller than from the
// least element to the greatest.
template <const BlockFormat& kFormat>
void encode_plain_lines(const float* from, int64_t columns, uint8_t* target) {
  static_assert(kFormat.elements == kSmallBlock);
  constexpr int kWidth = width_of(kFormat.quant);
  // Of a step, at each end; below a half, so that quants stay in their range.
  constexpr float kBeyond = 0.3f;
  constexpr float kSpan = (1 << kWidth) - 1 + 2 * kBeyond;
  constexpr float kLeastRange = 0x1p-100f;  // with less 1 / range is no number
  constexpr float kUnit = 12582912.0f;      // 1.5 * 2^23, whose last bit is 1
  constexpr float kCount = kSmallBlock;
  for (int64_t at = 0; at < columns; at += kLanes * kSmallBlock) {
    const PlainBlocks blocks(from + at, (columns - at) / kSmallBlock);
    Lanes low = blocks.x(0), high = low;
    for (int i = 1; i < kSmallBlock; ++i) {
      low = lesser(low, blocks.x(i));
      high = greater(high, blocks.x(i));
    }
    const Lanes range = high - low;
    const Lanes by =
        kSpan * inverse(select(range > kLeastRange, range, Lanes{}));
    const Lanes zero = low + (kBeyond / kSpan) * range;
    Lanes sum_q = {}, sum_qq = {}, sum_x = {}, sum_xq = {};
    PlainQuants quants;
    for (int i = 0; i < kSmallBlock; ++i) {
      const Lanes x = blocks.x(i) - zero;
      const Lanes rounded = x * by + kUnit;
      const Lanes q = rounded - kUnit;
      quants.numbers[i] = reinterpret_cast<LaneMask>(rounded);
      sum_q += q;
      sum_qq += q * q;
      sum_x += x;
      sum_xq += x * q;
    }
    const Lanes determinant = kCount * sum_qq - sum_q * sum_q;
    const Lanes d = inverse(select(determinant > 0.0f, determinant, Lanes{}));
    const Lanes scale = rounded_scales((kCount * sum_xq - sum_x * sum_q) * d);
    // With one quant for all of them the middle.
    const Lanes offset =
        rounded_scales(zero + select(d == 0.0f, sum_x / kCount,
                                     (sum_qq * sum_x - sum_q * sum_xq) * d));
    put_scales(scale, blocks.count, kFormat.bytes, target + kFormat.scale.at);
    put_scales(offset, blocks.count, kFormat.bytes,
               target + kFormat.minimum.at);
    quants.put_nibbles(blocks.count, kFormat.bytes,
                       target + kFormat.quant.low.at);
    if constexpr (kWidth == 5) {
      quants.put_fifth_bits(blocks.count, kFormat.bytes,
                            target + kFormat.quant.high.at);
    }
    target += blocks.count * kFormat.bytes;
  }
}

}  // namespace rc::quantize
