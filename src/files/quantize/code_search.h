// The entries of codebooks that are nearest to groups of elements.
//
// The error of an entry is the sum of the errors of its digits, so the sums of
// all possible halves are computed first, and an entry costs one comparison.
// The sums are whole numbers whose low bits are the digits, so that the least
// sum identifies its entry.
#pragma once

#include <cmath>
#include <cstring>

#include "files/quantize/codebook.h"
#include "files/quantize/fit.h"
#include "files/quantize/lanes.h"

namespace rc::quantize {

typedef uint32_t LaneWords __attribute__((vector_size(32)));

RC_LANES_INLINE LaneWords lesser(LaneWords a, LaneWords b) {
  return a < b ? a : b;
}

// The values of digits: kFrom + kStep * digit, and kMore more for the last.
template <int kFrom, int kStep, int kMore>
struct Digits {
  static constexpr float value(int digit, int levels) {
    return static_cast<float>(kFrom + kStep * digit +
                              (digit == levels - 1 ? kMore : 0));
  }
  RC_LANES_INLINE static Lanes values(LaneMask digit, int levels) {
    LaneMask whole = digit * kStep + kFrom;
    if constexpr (kMore != 0) whole += (digit == levels - 1) & kMore;
    return __builtin_convertvector(whole, Lanes);
  }
};

// The cost of each digit of an entry: w * (x - digit)^2, above the least of
// them, for eight entries side by side.
template <Codebook kBook>
struct DigitCosts {
  using Shape = BookShape<kBook>;
  static constexpr int kLevels = Shape::kLevels;

  Lanes above[Shape::kDigits][kLevels];
  Lanes least;  // the sum of what the least ones cost
  Lanes range;  // the most that the sum of all digits is above it

  template <class Values>
  RC_LANES_INLINE void measure(const Lanes* x, const Lanes* w) {
    least = range = Lanes{};
    for (int i = 0; i < Shape::kDigits; ++i) {
      Lanes low = all_lanes(INFINITY), high = {};
#pragma GCC unroll 8
      for (int d = 0; d < kLevels; ++d) {
        const Lanes rest = x[i] - Values::value(d, kLevels);
        above[i][d] = w[i] * rest * rest;
        low = lesser(low, above[i][d]);
        high = greater(high, above[i][d]);
      }
#pragma GCC unroll 8
      for (int d = 0; d < kLevels; ++d) above[i][d] -= low;
      least += low;
      range += high - low;
    }
  }

  // The other's in the lanes of the mask.
  RC_LANES_INLINE void take(LaneMask lanes, const DigitCosts& other) {
    for (int i = 0; i < Shape::kDigits; ++i) {
#pragma GCC unroll 8
      for (int d = 0; d < kLevels; ++d) {
        above[i][d] = select(lanes, other.above[i][d], above[i][d]);
      }
    }
    range = select(lanes, other.range, range);
  }
};

// In each lane the word of the entry that costs least, to some thousandths of
// what the dearest costs.
template <Codebook kBook>
RC_LANES_INLINE LaneMask cheapest_entry(const DigitCosts<kBook>& costs,
                                        const BookRows& book) {
  using Shape = BookShape<kBook>;
  constexpr int kLevels = Shape::kLevels;
  constexpr int kFree = 32 - Shape::kWordBits;
  const Lanes unit = static_cast<float>((1u << kFree) - 2 * Shape::kDigits) *
                     inverse(costs.range);
  LaneWords part[Shape::kDigits][kLevels];
  for (int i = 0; i < Shape::kDigits; ++i) {
#pragma GCC unroll 8
    for (int d = 0; d < kLevels; ++d) {
      const LaneMask whole =
          __builtin_convertvector(costs.above[i][d] * unit, LaneMask);
      part[i][d] = (reinterpret_cast<LaneWords>(whole) << Shape::kWordBits) +
                   (static_cast<uint32_t>(d) << (i * Shape::kWidth));
    }
  }
  LaneWords half[2][Shape::kHalfCount];
  for (int h = 0; h < 2; ++h) {
    const auto* p = part + h * Shape::kHalf;
    if constexpr (Shape::kHalf == 2) {
      for (int b = 0; b < kLevels; ++b) {
#pragma GCC unroll 8
        for (int a = 0; a < kLevels; ++a) {
          half[h][b * kLevels + a] = p[0][a] + p[1][b];
        }
      }
    } else {
      LaneWords low[kLevels * kLevels];
#pragma GCC unroll 9
      for (int i = 0; i < kLevels * kLevels; ++i) {
        low[i] = p[0][i % kLevels] + p[1][i / kLevels];
      }
      for (int j = 0; j < kLevels * kLevels; ++j) {
        const LaneWords high = p[2][j % kLevels] + p[3][j / kLevels];
#pragma GCC unroll 9
        for (int i = 0; i < kLevels * kLevels; ++i) {
          half[h][j * kLevels * kLevels + i] = low[i] + high;
        }
      }
    }
  }
  LaneWords best = LaneWords{} + UINT32_MAX;
  const auto* seconds = reinterpret_cast<const char*>(half[1]);
  static_assert(sizeof(LaneWords) == 32);
  const auto second = [seconds](uint16_t at) {
    LaneWords words;
    std::memcpy(&words, seconds + at, sizeof words);
    return words;
  };
  const uint16_t* at = book.seconds.data();
  for (const BookRows::Row& row : book.rows) {
    LaneWords least = second(*at++);
    for (int k = 1; k < row.count; ++k) least = lesser(least, second(*at++));
    best = lesser(best, half[0][row.first] + least);
  }
  return reinterpret_cast<LaneMask>(best) & ((1 << Shape::kWordBits) - 1);
}

// The values of the digits of words.
template <Codebook kBook, class Values>
RC_LANES_INLINE Lanes digit_of(LaneMask word, int i) {
  using Shape = BookShape<kBook>;
  const LaneMask digit =
      (word >> (i * Shape::kWidth)) & ((1 << Shape::kWidth) - 1);
  return Values::values(digit, Shape::kLevels);
}

// The entries and signs of a group in each lane.
template <int kEntries, int kSigns>
struct GroupCodes {
  LaneMask words[kEntries];
  LaneMask signs[kSigns];

  // The other's in the lanes of the mask.
  RC_LANES_INLINE void take(LaneMask lanes, const GroupCodes& other) {
    for (int i = 0; i < kEntries; ++i) {
      words[i] = select(lanes, other.words[i], words[i]);
    }
    for (int i = 0; i < kSigns; ++i) {
      signs[i] = select(lanes, other.signs[i], signs[i]);
    }
  }
};

}  // namespace rc::quantize
