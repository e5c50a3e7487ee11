// What the quants of a type can say, in units of the scale of their group.
#pragma once

#include "files/quantize/lanes.h"
#include "tensor/formats/formats.h"

namespace rc::quantize {

// Whole numbers from kLow to kHigh, written with kZero added.
template <int kFrom, int kTo, int kZero = -kFrom>
struct IntegerGrid {
  static constexpr float kLow = kFrom;
  static constexpr float kHigh = kTo;

  RC_LANES_INLINE static Lanes nearest(Lanes x) {
    return rounded(clamp(x, kLow, kHigh));
  }
  RC_LANES_INLINE static void codes(Lanes nearest, uint8_t* code) {
    for (int lane = 0; lane < kLanes; ++lane) {
      code[lane] =
          static_cast<uint8_t>(static_cast<int>(nearest[lane]) + kZero);
    }
  }
};

// A table whose first kCount values are in ascending order, all there are.
template <ValueTable kTable>
struct TableGrid {
  static constexpr const int8_t* kValues = values_of(kTable);
  static constexpr float kLow = kValues[0];
  static constexpr float kHigh = kValues[15];

  RC_LANES_INLINE static Lanes nearest(Lanes x) {
    Lanes value = all_lanes(kLow);
#pragma GCC unroll 16
    for (int i = 1; i < 16; ++i) {
      const float middle = static_cast<float>(kValues[i] + kValues[i - 1]) / 2;
      value =
          select(x > middle, all_lanes(static_cast<float>(kValues[i])), value);
    }
    return value;
  }
  RC_LANES_INLINE static void codes(Lanes nearest, uint8_t* code) {
    LaneMask count = {};
#pragma GCC unroll 16
    for (int i = 1; i < 16; ++i) {
      count -= nearest > static_cast<float>(kValues[i]) - 0.5f;
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      code[lane] = static_cast<uint8_t>(count[lane]);
    }
  }
};

// Eight magnitudes in ascending order from 0 on, then the same below zero.
template <ValueTable kTable>
struct SignedTableGrid {
  static constexpr const int8_t* kValues = values_of(kTable);
  static constexpr float kHigh = kValues[7];
  static constexpr float kLow = -kHigh;

  RC_LANES_INLINE static Lanes nearest(Lanes x) {
    const Lanes size = magnitude(x);
    Lanes value = Lanes{};
#pragma GCC unroll 8
    for (int i = 1; i < 8; ++i) {
      const float middle = static_cast<float>(kValues[i] + kValues[i - 1]) / 2;
      value = select(size > middle, all_lanes(static_cast<float>(kValues[i])),
                     value);
    }
    return select(x < 0.0f, -value, value);
  }
  RC_LANES_INLINE static void codes(Lanes nearest, uint8_t* code) {
    const Lanes size = magnitude(nearest);
    LaneMask count = (nearest < 0.0f) & 8;
#pragma GCC unroll 8
    for (int i = 1; i < 8; ++i) {
      count -= size > static_cast<float>(kValues[i]) - 0.5f;
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      code[lane] = static_cast<uint8_t>(count[lane]);
    }
  }
};

}  // namespace rc::quantize
