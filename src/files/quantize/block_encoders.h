// Blocks of the types that formats.h describes, with scales that are searched.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "files/quantize/fit.h"
#include "tensor/formats/unpack.h"

namespace rc::quantize {

inline uint16_t scale_bits_of(float scale) {
  constexpr float kLargest = 65504.0f;
  return f32_to_f16(std::clamp(scale, -kLargest, kLargest));
}
inline float rounded_scale(float scale) {
  return f16_to_f32(scale_bits_of(scale));
}
inline void put_scale(float scale, uint8_t* to) {
  const uint16_t bits = scale_bits_of(scale);
  std::memcpy(to, &bits, sizeof bits);
}

// The nearest binary16 in each lane, as rounded_scale.
RC_LANES_INLINE Lanes rounded_scales(Lanes scale) {
  constexpr float kLargest = 65504.0f;
  constexpr float kLeastNormal = 0x1p-14f;
  const Lanes size = lesser(magnitude(scale), all_lanes(kLargest));
  const LaneMask bits = reinterpret_cast<LaneMask>(size);
  const LaneMask near = (bits + 0xFFF + ((bits >> 13) & 1)) & ~0x1FFF;
  // A multiple of 2^-24 below the normal numbers.
  const Lanes small = (size + 0.5f) - 0.5f;
  const Lanes value =
      select(size < kLeastNormal, small, reinterpret_cast<Lanes>(near));
  return select(scale < 0.0f, -value, value);
}

// The bits of the nearest binary16 in each lane, as scale_bits_of.
RC_LANES_INLINE LaneMask scale_bits_in_lanes(Lanes scale) {
  constexpr float kLargest = 65504.0f;
  constexpr float kLeastNormal = 0x1p-14f;
  constexpr int kFewerExponents = 127 - 15;
  const LaneMask sign = (reinterpret_cast<LaneMask>(scale) >> 16) & 0x8000;
  const Lanes size = lesser(magnitude(scale), all_lanes(kLargest));
  const LaneMask bits = reinterpret_cast<LaneMask>(size);
  const LaneMask near =
      ((bits + 0xFFF + ((bits >> 13) & 1)) >> 13) - (kFewerExponents << 10);
  // A multiple of 2^-24 below the normal numbers: that of the last bit of 0.5.
  const LaneMask small = reinterpret_cast<LaneMask>(size + 0.5f) -
                         reinterpret_cast<LaneMask>(all_lanes(0.5f));
  return sign | select(size < kLeastNormal, small, near);
}

// The scales of `count` blocks, `stride` bytes apart.
RC_LANES_INLINE void put_scales(Lanes scale, int count, int stride,
                                uint8_t* to) {
  const LaneMask bits = scale_bits_in_lanes(scale);
  for (int g = 0; g < count; ++g) {
    const auto two = static_cast<uint16_t>(bits[g]);
    std::memcpy(to + g * stride, &two, sizeof two);
  }
}

// Four bytes of each of `count` groups, bytes `stride` apart, from numbers of
// which the lower bytes count.
RC_LANES_INLINE void put_four(LaneMask a, LaneMask b, LaneMask c, LaneMask d,
                              int count, int stride, uint8_t* to) {
  const LaneMask four = (a & 255) | (b & 255) << 8 | (c & 255) << 16 | d << 24;
  for (int g = 0; g < count; ++g) {
    const int32_t bytes = four[g];
    std::memcpy(to + g * stride, &bytes, sizeof bytes);
  }
}

// The quants of groups against scales, each in a byte, group after group.
template <class Grid, int kGroup>
void put_quants(const LaneGroups<kGroup>& groups, Lanes scale, int count,
                uint8_t* quants) {
  const Lanes by = inverse(scale);
  for (int i = 0; i < kGroup; i += 4) {
    LaneMask codes[4];
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      codes[k] = Grid::code(Grid::nearest(groups.x(i + k) * by));
    }
    put_four(codes[0], codes[1], codes[2], codes[3], count, kGroup, quants + i);
  }
}

template <int kLevels, int kGroup>
void put_line_quants(const LaneGroups<kGroup>& groups, Lanes scale,
                     Lanes offset, int count, uint8_t* quants) {
  const Lanes by = inverse(scale);
  for (int i = 0; i < kGroup; i += 4) {
    LaneMask codes[4];
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      codes[k] = __builtin_convertvector(
          rounded_within((groups.x(i + k) - offset) * by, 0, kLevels),
          LaneMask);
    }
    put_four(codes[0], codes[1], codes[2], codes[3], count, kGroup, quants + i);
  }
}

// Blocks with a scale of binary16, without factors and minimum: eight at once.
template <const BlockFormat& kFormat, class Grid, class Places>
void encode_scales(const float* x, const float* w, int64_t columns,
                   const Places& places, int turns, uint8_t* target) {
  constexpr int kGroup = kFormat.elements;
  const int64_t blocks = columns / kGroup;
  LaneGroups<kGroup> groups;
  uint8_t quants[kLanes * kGroup];
  for (int64_t first = 0; first < blocks; first += kLanes) {
    const int count =
        static_cast<int>(std::min<int64_t>(kLanes, blocks - first));
    groups.load(x + first * kGroup, w == nullptr ? w : w + first * kGroup,
                count);
    Lanes scale = best_scale<Grid>(groups, places, turns);
    scale = rounded_scales(scale);
    put_quants<Grid>(groups, scale, count, quants);
    for (int g = 0; g < count; ++g) {
      uint8_t* block = target + (first + g) * kFormat.bytes;
      std::memset(block, 0, kFormat.bytes);
      pack_bits<kFormat.quant, kGroup>(quants + g * kGroup, block);
      put_scale(scale[g], block + kFormat.scale.at);
    }
  }
}

// Blocks with a scale and a minimum that is added: eight at once.
template <const BlockFormat& kFormat, class Spans>
void encode_lines(const float* x, const float* w, int64_t columns,
                  const Spans& spans, uint8_t* target) {
  constexpr int kGroup = kFormat.elements;
  constexpr int kLevels = (1 << width_of(kFormat.quant)) - 1;
  const int64_t blocks = columns / kGroup;
  LaneGroups<kGroup> groups;
  uint8_t quants[kLanes * kGroup];
  for (int64_t first = 0; first < blocks; first += kLanes) {
    const int count =
        static_cast<int>(std::min<int64_t>(kLanes, blocks - first));
    groups.load(x + first * kGroup, w == nullptr ? w : w + first * kGroup,
                count);
    Line line = best_line<kLevels, true>(groups, spans, 3);
    line.scale = rounded_scales(line.scale);
    line.offset = rounded_scales(line.offset);
    put_line_quants<kLevels>(groups, line.scale, line.offset, count, quants);
    for (int g = 0; g < count; ++g) {
      uint8_t* block = target + (first + g) * kFormat.bytes;
      std::memset(block, 0, kFormat.bytes);
      pack_bits<kFormat.quant, kGroup>(quants + g * kGroup, block);
      put_scale(line.scale[g], block + kFormat.scale.at);
      put_scale(line.offset[g], block + kFormat.minimum.at);
    }
  }
}

// The factors of a group: whole numbers, of which the scale of the block makes
// scales and minimums.
constexpr int least_factor(const BitNumber& number) {
  return number.is_signed ? -(1 << (width_of(number) - 1)) : -number.zero;
}
constexpr int greatest_factor(const BitNumber& number) {
  return least_factor(number) + (1 << width_of(number)) - 1;
}
inline uint8_t factor_bits(const BitNumber& number, float factor) {
  const int bits =
      static_cast<int>(factor) + (number.is_signed ? 0 : number.zero);
  return static_cast<uint8_t>(bits & ((1 << width_of(number)) - 1));
}

// A block whose groups have factors and no minimums.
template <const BlockFormat& kFormat, class Grid, class Places>
void encode_scaled_block(const float* x, const float* w, const Places& places,
                         int reach, uint8_t* block) {
  constexpr int kGroup = kFormat.group;
  constexpr int kGroups = kFormat.elements / kGroup;
  constexpr int kBatches = kGroups / kLanes;
  static_assert(kBatches * kLanes == kGroups);
  constexpr float kLow = least_factor(kFormat.scale_factor);
  constexpr float kHigh = greatest_factor(kFormat.scale_factor);
  LaneGroups<kGroup> groups[kBatches];
  Lanes scale[kBatches], factor[kBatches] = {}, kept[kBatches] = {};
  float farthest = 0;
  for (int b = 0; b < kBatches; ++b) {
    const int first = b * kLanes * kGroup;
    groups[b].load(x + first, w == nullptr ? w : w + first, kLanes);
    scale[b] = best_scale<Grid>(groups[b], places, 1);
    for (int g = 0; g < kLanes; ++g) {
      if (std::fabs(scale[b][g]) > std::fabs(farthest)) farthest = scale[b][g];
    }
  }
  // The factor of the largest scale is the one farthest from 0.
  float unit = rounded_scale(farthest / kLow);
  float kept_unit = 0;
  double least = INFINITY;
  for (int round = 0; round < 3; ++round) {
    const float by = unit == 0 ? 0 : 1 / unit;
    double error = 0, xq = 0, qq = 0;
    for (int b = 0; b < kBatches; ++b) {
      const Lanes near =
          round == 0 ? clamp(rounded(scale[b] * by), kLow, kHigh) : factor[b];
      const int wide = round == 0 ? reach : 1;
      Lanes best = all_lanes(INFINITY);
      for (int step = -wide; step <= wide; ++step) {
        const Lanes f = clamp(near + static_cast<float>(step), kLow, kHigh);
        const Lanes e = scale_error<Grid>(groups[b], f * unit);
        const LaneMask better = e < best;
        best = select(better, e, best);
        factor[b] = select(better, f, factor[b]);
      }
      error += sum(best);
      const ScaleSums sums =
          scale_sums<Grid>(groups[b], inverse(factor[b] * unit));
      xq += sum(sums.xq * factor[b]);
      qq += sum(sums.qq * factor[b] * factor[b]);
    }
    if (error < least) {
      least = error;
      kept_unit = unit;
      std::copy(factor, factor + kBatches, kept);
    }
    const float next =
        qq > 0 ? rounded_scale(static_cast<float>(xq / qq)) : unit;
    if (next == unit) break;
    unit = next;
  }
  uint8_t quants[kFormat.elements], factors[kGroups];
  for (int b = 0; b < kBatches; ++b) {
    put_quants<Grid>(groups[b], kept[b] * kept_unit, kLanes,
                     quants + b * kLanes * kGroup);
    for (int g = 0; g < kLanes; ++g) {
      factors[b * kLanes + g] = factor_bits(kFormat.scale_factor, kept[b][g]);
    }
  }
  std::memset(block, 0, kFormat.bytes);
  pack_bits<kFormat.quant, kFormat.elements>(quants, block);
  pack_bits<kFormat.scale_factor, kGroups>(factors, block);
  put_scale(kept_unit, block + kFormat.scale.at);
}

// The numbers of a block of groups with factors and minimums.
template <int kBatches>
struct LineBlock {
  float scale = 0;
  float minimum = 0;  // subtracted
  Lanes scales[kBatches] = {};
  Lanes minimums[kBatches] = {};
};

// The scale and the minimum of a block with the least error for the factors and
// quants that it has; what they are if that is none.
template <int kLevels, int kBatches, int kGroup>
void refit_lines(const LaneGroups<kGroup>* groups,
                 LineBlock<kBatches>& numbers) {
  double aa = 0, ab = 0, bb = 0, ax = 0, bx = 0;
  for (int b = 0; b < kBatches; ++b) {
    const Lanes f = numbers.scales[b], m = numbers.minimums[b];
    const LineSums sums = line_sums<kLevels>(
        groups[b], inverse(f * numbers.scale), -(m * numbers.minimum));
    Lanes w = {}, x = {};
    for (int i = 0; i < kGroup; ++i) {
      w += groups[b].w(i);
      x += groups[b].w(i) * groups[b].x(i);
    }
    aa += sum(f * f * sums.qq);
    ab += sum(f * m * sums.q);
    bb += sum(m * m * w);
    ax += sum(f * sums.xq);
    bx += sum(m * x);
  }
  const double determinant = aa * bb - ab * ab;
  if (bb == 0 && aa > 0) {
    numbers.scale = rounded_scale(static_cast<float>(ax / aa));
  } else if (determinant > 0) {
    const auto scale = static_cast<float>((ax * bb - bx * ab) / determinant);
    const auto minimum = static_cast<float>((ax * ab - bx * aa) / determinant);
    if (scale > 0 && minimum > 0) {
      numbers.scale = rounded_scale(scale);
      numbers.minimum = rounded_scale(minimum);
    }
  }
}

// A block whose groups have factors of the scale and of a minimum, which is
// subtracted.
template <const BlockFormat& kFormat, class Spans>
void encode_line_block(const float* x, const float* w, const Spans& spans,
                       uint8_t* block) {
  constexpr int kGroup = kFormat.group;
  constexpr int kGroups = kFormat.elements / kGroup;
  constexpr int kBatches = kGroups / kLanes;
  static_assert(kBatches * kLanes == kGroups);
  constexpr int kLevels = (1 << width_of(kFormat.quant)) - 1;
  constexpr float kMost = greatest_factor(kFormat.scale_factor);
  LaneGroups<kGroup> groups[kBatches];
  Lanes scale[kBatches], offset[kBatches];
  LineBlock<kBatches> now;
  for (int b = 0; b < kBatches; ++b) {
    const int first = b * kLanes * kGroup;
    groups[b].load(x + first, w == nullptr ? w : w + first, kLanes);
    const Line line = best_line<kLevels, false>(groups[b], spans, 1);
    scale[b] = line.scale;
    offset[b] = line.offset;
    for (int g = 0; g < kLanes; ++g) {
      now.scale = std::max(now.scale, scale[b][g]);
      now.minimum = std::max(now.minimum, -offset[b][g]);
    }
  }
  now.scale = rounded_scale(now.scale / kMost);
  now.minimum = rounded_scale(now.minimum / kMost);
  for (int b = 0; b < kBatches; ++b) {
    const float by = now.scale == 0 ? 0 : 1 / now.scale;
    const float minimum_by = now.minimum == 0 ? 0 : 1 / now.minimum;
    now.scales[b] = rounded(clamp(scale[b] * by, 0, kMost));
    now.minimums[b] = rounded(clamp(-offset[b] * minimum_by, 0, kMost));
  }
  LineBlock<kBatches> kept = now;
  double least = INFINITY;
  for (int round = 0; round < 3; ++round) {
    double error = 0;
    for (int b = 0; b < kBatches; ++b) {
      const Lanes f0 = now.scales[b], m0 = now.minimums[b];
      Lanes best = all_lanes(INFINITY);
      for (int i = -1; i <= 1; ++i) {
        for (int j = -1; j <= 1; ++j) {
          const Lanes f = clamp(f0 + static_cast<float>(i), 0, kMost);
          const Lanes m = clamp(m0 + static_cast<float>(j), 0, kMost);
          const Lanes e =
              line_error<kLevels>(groups[b], f * now.scale, -(m * now.minimum));
          const LaneMask better = e < best;
          best = select(better, e, best);
          now.scales[b] = select(better, f, now.scales[b]);
          now.minimums[b] = select(better, m, now.minimums[b]);
        }
      }
      error += sum(best);
    }
    if (error < least) {
      least = error;
      kept = now;
    }
    refit_lines<kLevels>(groups, now);
    if (now.scale == kept.scale && now.minimum == kept.minimum) break;
  }
  uint8_t quants[kFormat.elements], factors[kGroups], minimums[kGroups];
  for (int b = 0; b < kBatches; ++b) {
    put_line_quants<kLevels>(groups[b], kept.scales[b] * kept.scale,
                             -(kept.minimums[b] * kept.minimum), kLanes,
                             quants + b * kLanes * kGroup);
    for (int g = 0; g < kLanes; ++g) {
      factors[b * kLanes + g] =
          factor_bits(kFormat.scale_factor, kept.scales[b][g]);
      minimums[b * kLanes + g] =
          factor_bits(kFormat.minimum_factor, kept.minimums[b][g]);
    }
  }
  std::memset(block, 0, kFormat.bytes);
  pack_bits<kFormat.quant, kFormat.elements>(quants, block);
  pack_bits<kFormat.scale_factor, kGroups>(factors, block);
  pack_bits<kFormat.minimum_factor, kGroups>(minimums, block);
  put_scale(kept.scale, block + kFormat.scale.at);
  put_scale(kept.minimum, block + kFormat.minimum.at);
}

}  // namespace rc::quantize
