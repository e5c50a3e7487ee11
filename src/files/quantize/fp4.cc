// Types of floats of four bits, whose scales are floats of a byte.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "files/quantize/block_encoders.h"
#include "files/quantize/encoder_list.h"
#include "files/quantize/long_vectors.h"
#include "tensor/formats/coded_formats.h"

namespace rc::quantize {
namespace {

template <rc_dtype kType>
constexpr BlockFormat kFP4Block = *find_block_format(kType);

// The scale of least error of kCount for each group, and its number.
template <int kCount, int kGroup, class Scale>
RC_LANES_INLINE Lanes best_number(const LaneGroups<kGroup>& groups,
                                  const int (&numbers)[kCount][kLanes],
                                  const Scale& scale_of, int* number) {
  Lanes best = all_lanes(INFINITY), scale = {};
  LaneMask which = {};
  for (int i = 0; i < kCount; ++i) {
    Lanes candidate = {};
    for (int g = 0; g < kLanes; ++g) candidate[g] = scale_of(numbers[i][g]);
    const Lanes error = scale_error<E2M1Grid>(groups, candidate);
    const LaneMask better = error < best;
    best = select(better, error, best);
    scale = select(better, candidate, scale);
    which = select(better, LaneMask{} + i, which);
  }
  for (int g = 0; g < kLanes; ++g) number[g] = numbers[which[g]][g];
  return scale;
}

// 2^(exponent - 128), of which the table's values are multiples.
void encode_mxfp4(const float* x, const float* w, int64_t columns,
                  uint8_t* target) {
  constexpr const BlockFormat& kFormat = kFP4Block<RC_DTYPE_MXFP4>;
  constexpr int kGroup = kFormat.elements;
  const int64_t blocks = columns / kGroup;
  LaneGroups<kGroup> groups;
  uint8_t quants[kLanes * kGroup];
  for (int64_t first = 0; first < blocks; first += kLanes) {
    const int count =
        static_cast<int>(std::min<int64_t>(kLanes, blocks - first));
    groups.load(x + first * kGroup, w == nullptr ? w : w + first * kGroup,
                count);
    const Lanes far = magnitude(extreme(groups, kGroup));
    int tried[2][kLanes], exponents[kLanes];
    for (int g = 0; g < kLanes; ++g) {
      // The extreme is below 2^power, and 8 or 16 of the scale's.
      const int power =
          static_cast<int>(std::bit_cast<uint32_t>(far[g]) >> 23) - 126;
      for (int i = 0; i < 2; ++i) {
        tried[i][g] = std::clamp(power - 4 + i + 128, 0, 254);
      }
    }
    const Lanes scale = best_number(
        groups, tried,
        [](int exponent) {
          return power_of_two(static_cast<uint8_t>(exponent));
        },
        exponents);
    put_quants<E2M1Grid>(groups, scale, count, quants);
    for (int g = 0; g < count; ++g) {
      uint8_t* block = target + (first + g) * kFormat.bytes;
      std::memset(block, 0, kFormat.bytes);
      pack_bits<kFormat.quant, kGroup>(quants + g * kGroup, block);
      block[kFormat.scale.at] = static_cast<uint8_t>(exponents[g]);
    }
  }
}

constexpr CodedFormat kNVFP4 = [] {
  for (const CodedFormat& format : kCodedFormats) {
    if (format.dtype == RC_DTYPE_NVFP4) return format;
  }
  return CodedFormat{};
}();
constexpr int kMostE4M3 = 0x7E;  // the last one is no number

// The number of the greatest float of E4M3 that is not above `size` units.
int e4m3_below(float size) {
  if (!(size >= 8)) return size > 0 ? static_cast<int>(size) : 0;
  // The exponent of 8 is 130, and three bits of the mantissa are kept.
  const auto bits = static_cast<int>(std::bit_cast<uint32_t>(size) >> 20);
  return std::min(bits - 8 * 129, kMostE4M3);
}

// Blocks of groups, of which eight are encoded at once.
void encode_nvfp4(const float* x, const float* w, int64_t columns,
                  uint8_t* target) {
  constexpr const BlockFormat& kTo = kFP4Block<kExpandedFP4>;
  constexpr BitNumber kQuant = {.low = kNVFP4.plane};
  constexpr int kGroup = kNVFP4.group;
  constexpr int kGroups = kNVFP4.elements / kGroup;
  constexpr int kBlocks = kLanes / kGroups;
  constexpr float kUnit = power(kTo.scale.exponent);
  LaneGroups<kGroup> groups;
  uint8_t quants[kLanes * kGroup];
  for (int64_t at = 0; at < columns; at += kBlocks * kNVFP4.elements) {
    const int count =
        static_cast<int>(std::min<int64_t>(kLanes, (columns - at) / kGroup));
    groups.load(x + at, w == nullptr ? w : w + at, count);
    const Lanes far = magnitude(extreme(groups, kGroup));
    int tried[5][kLanes], numbers[kLanes];
    for (int g = 0; g < kLanes; ++g) {
      // The extreme becomes about the greatest number or the one below it.
      const int greatest = e4m3_below(far[g] / (kUnit * 12));
      const int next = e4m3_below(far[g] / (kUnit * 8));
      const int all[] = {greatest - 1, greatest, greatest + 1, next, next + 1};
      for (int i = 0; i < 5; ++i) {
        tried[i][g] = std::clamp(all[i], 0, kMostE4M3);
      }
    }
    const Lanes scale = best_number(
        groups, tried,
        [](int number) {
          return kUnit * static_cast<float>(e4m3(static_cast<uint8_t>(number)));
        },
        numbers);
    put_quants<E2M1Grid>(groups, scale, count, quants);
    for (int first = 0; first < count; first += kGroups) {
      std::memset(target, 0, kNVFP4.bytes);
      pack_bits<kQuant, kNVFP4.elements>(quants + first * kGroup, target);
      for (int g = 0; g < kGroups; ++g) {
        target[kNVFP4.factor.at / 8 + g] =
            static_cast<uint8_t>(numbers[first + g]);
      }
      target += kNVFP4.bytes;
    }
  }
}

}  // namespace

Encoder find_fp4_encoder(DType dtype) {
  switch (dtype) {
    case RC_DTYPE_MXFP4:
      return best_of<encode_mxfp4>();
    case RC_DTYPE_NVFP4:
      return best_of<encode_nvfp4>();
    default:
      return nullptr;
  }
}

}  // namespace rc::quantize
