// Numbers at the ends of what types can hold, for every op.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "conformance_util.h"

namespace rc::test {

// The largest F32, and one whose square is just beyond it.
inline constexpr float kLargest = std::numeric_limits<float>::max();
inline constexpr float kSquareBeyond = 1.9e19f;

struct SpecialRow {
  std::string name;
  std::vector<float> values;
};

// Rows of d numbers, whose squares F32 cannot hold: they overflow, or, of the
// last ones, vanish.
inline std::vector<SpecialRow> rows_without_squares(int64_t d) {
  const auto row = [&](const char* name, auto value) {
    SpecialRow made{name, {}};
    const Data random = random_f32(d);
    for (int64_t i = 0; i < d; ++i) {
      const auto place = static_cast<size_t>(i);
      made.values.push_back(value(i, static_cast<float>(random.values[place])));
    }
    return made;
  };
  return {
      row("one largest",
          [&](int64_t i, float x) { return i == d / 2 ? kLargest : x; }),
      row("one negative",
          [&](int64_t i, float x) { return i == d - 1 ? -kLargest : x; }),
      row("largest of both signs",
          [](int64_t i, float) { return i % 3 == 0 ? -kLargest : kLargest; }),
      row("squares just beyond",
          [](int64_t i, float) { return i % 2 ? kSquareBeyond : 0.0f; }),
      row("large", [](int64_t, float x) { return x * 1e37f; }),
      row("small", [](int64_t, float x) { return x * 1e-27f; }),
  };
}

// Arguments of functions from the middle outwards.
inline std::vector<float> outward(float sign) {
  std::vector<float> values;
  for (const float x :
       {1.0f, 20.0f, 87.0f, 1e4f, 1e10f, 1e13f, 1e19f, 1e30f, kLargest}) {
    values.push_back(sign * x);
  }
  return values;
}

}  // namespace rc::test
