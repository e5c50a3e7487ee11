// The values that the quants of a type represent, in units of the scale of
// their group.
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
    return rounded_within(x, kFrom, kTo);
  }
  RC_LANES_INLINE static LaneMask code(Lanes nearest) {
    return __builtin_convertvector(nearest, LaneMask) + kZero;
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
  RC_LANES_INLINE static LaneMask code(Lanes nearest) {
    LaneMask count = {};
#pragma GCC unroll 16
    for (int i = 1; i < 16; ++i) {
      count -= nearest > static_cast<float>(kValues[i]) - 0.5f;
    }
    return count;
  }
};

// E2M1 of OCP Microscaling Formats 1.0, doubled: 0, 1, 2, 3, 4, 6, 8 and 12,
// then the same below zero. From 2 on these are the floats with one bit of
// mantissa.
struct E2M1Grid {
  static constexpr float kHigh = 12;
  static constexpr float kLow = -kHigh;
  static constexpr int kBits = 22;  // of a float's mantissa that there are not

  RC_LANES_INLINE static Lanes nearest(Lanes x) {
    const Lanes size = lesser(magnitude(x), all_lanes(kHigh));
    const LaneMask bits =
        (reinterpret_cast<LaneMask>(size) + (1 << (kBits - 1))) & -(1 << kBits);
    const Lanes value =
        select(size < 2.0f, rounded(size), reinterpret_cast<Lanes>(bits));
    return select(x < 0.0f, -value, value);
  }
  RC_LANES_INLINE static LaneMask code(Lanes nearest) {
    const Lanes size = magnitude(nearest);
    constexpr int kTwo = (128 << (23 - kBits)) - 2;
    const LaneMask number =
        select(size < 2.0f, __builtin_convertvector(size, LaneMask),
               (reinterpret_cast<LaneMask>(size) >> kBits) - kTwo);
    return number | ((nearest < 0.0f) & 8);
  }
};

}  // namespace rc::quantize
