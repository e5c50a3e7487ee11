// Eight groups of a tensor side by side: what searches for scales works on
// eight of them at once, each in a lane of its own, so that no sum crosses
// lanes and the bits of a result do not depend on the processor.
#pragma once

#include <cstdint>
#include <cstring>

namespace rc::quantize {

inline constexpr int kLanes = 8;

typedef float Lanes __attribute__((vector_size(32)));
// All bits of a lane are set where a comparison holds.
typedef int32_t LaneMask __attribute__((vector_size(32)));

#define RC_LANES_INLINE [[gnu::always_inline]] inline

RC_LANES_INLINE Lanes all_lanes(float value) { return value - Lanes{}; }

RC_LANES_INLINE Lanes load_lanes(const float* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

RC_LANES_INLINE Lanes select(LaneMask mask, Lanes yes, Lanes no) {
  return mask ? yes : no;
}
RC_LANES_INLINE Lanes greater(Lanes a, Lanes b) { return a > b ? a : b; }
RC_LANES_INLINE Lanes lesser(Lanes a, Lanes b) { return a < b ? a : b; }
RC_LANES_INLINE Lanes magnitude(Lanes a) { return greater(a, -a); }
RC_LANES_INLINE Lanes clamp(Lanes a, float low, float high) {
  return lesser(greater(a, all_lanes(low)), all_lanes(high));
}

// To the nearest integer, ties to even; for magnitudes below 2^22.
RC_LANES_INLINE Lanes rounded(Lanes a) {
  constexpr float kUnit = 12582912.0f;  // 1.5 * 2^23, whose last bit is 1
  return (a + kUnit) - kUnit;
}

// 1 / a; 0 where a is 0.
RC_LANES_INLINE Lanes inverse(Lanes a) {
  const LaneMask zero = a == 0.0f;
  return select(zero, Lanes{}, 1.0f / select(zero, all_lanes(1.0f), a));
}

// The lanes in their order.
RC_LANES_INLINE double sum(Lanes a) {
  double total = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    total += static_cast<double>(a[lane]);
  }
  return total;
}

// Up to eight groups of kGroup elements and their weights.
template <int kGroup>
struct LaneGroups {
  alignas(32) float values[kGroup][kLanes];
  alignas(32) float weights[kGroup][kLanes];

  RC_LANES_INLINE Lanes x(int i) const { return load_lanes(values[i]); }
  RC_LANES_INLINE Lanes w(int i) const { return load_lanes(weights[i]); }

  // `count` groups, one after the other. `w` NULL: all weigh the same.
  // Lanes without a group hold zeros.
  void load(const float* from, const float* w, int count) {
    if (count < kLanes) std::memset(values, 0, sizeof values);
    for (int g = 0; g < count; ++g) {
      for (int i = 0; i < kGroup; ++i) values[i][g] = from[g * kGroup + i];
    }
    for (int i = 0; i < kGroup; ++i) {
      for (int g = 0; g < kLanes; ++g) weights[i][g] = 1.0f;
    }
    if (w == nullptr) return;
    for (int g = 0; g < count; ++g) {
      for (int i = 0; i < kGroup; ++i) weights[i][g] = w[g * kGroup + i];
    }
  }
};

}  // namespace rc::quantize
