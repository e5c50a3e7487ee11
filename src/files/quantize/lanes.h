// Eight groups of a tensor at once: the search for scales processes one group
// in each lane. No sum crosses lanes, so the bits of a result do not depend on
// the processor.
#pragma once

#include <cstdint>
#include <cstring>

namespace rc::quantize {

inline constexpr int kLanes = 8;

typedef float Lanes __attribute__((vector_size(32)));
// All bits of a lane are set where a comparison holds.
typedef int32_t LaneMask __attribute__((vector_size(32)));

#ifdef __wasm__  // pages need small files
#define RC_LANES_INLINE inline
#else
#define RC_LANES_INLINE [[gnu::always_inline]] inline
#endif

RC_LANES_INLINE Lanes all_lanes(float value) { return value - Lanes{}; }

RC_LANES_INLINE Lanes load_lanes(const float* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

RC_LANES_INLINE Lanes select(LaneMask mask, Lanes yes, Lanes no) {
  return mask ? yes : no;
}
RC_LANES_INLINE LaneMask select(LaneMask mask, LaneMask yes, LaneMask no) {
  return (mask & yes) | (~mask & no);
}
RC_LANES_INLINE Lanes greater(Lanes a, Lanes b) { return a > b ? a : b; }
RC_LANES_INLINE Lanes lesser(Lanes a, Lanes b) { return a < b ? a : b; }
RC_LANES_INLINE Lanes magnitude(Lanes a) { return greater(a, -a); }
RC_LANES_INLINE Lanes clamp(Lanes a, float low, float high) {
  return lesser(greater(a, all_lanes(low)), all_lanes(high));
}

RC_LANES_INLINE bool any(LaneMask mask) {
  int64_t pairs[kLanes / 2];
  std::memcpy(pairs, &mask, sizeof pairs);
  return (pairs[0] | pairs[1] | pairs[2] | pairs[3]) != 0;
}

// To the nearest integer, ties to even; for magnitudes below 2^22.
RC_LANES_INLINE Lanes rounded(Lanes a) {
  constexpr float kUnit = 12582912.0f;  // 1.5 * 2^23, whose last bit is 1
  return (a + kUnit) - kUnit;
}

// To the nearest integer from `low` to `high`, ties to even, of any magnitude.
// Bits of floats above 0 are in the order of what they mean, and GCC 12 makes
// one instruction of a bound for integers, but a comparison and a choice of one
// for floats.
RC_LANES_INLINE Lanes rounded_within(Lanes a, int low, int high) {
  constexpr float kUnit = 12582912.0f;   // 1.5 * 2^23, whose last bit is 1
  constexpr int32_t kZero = 0x4B400000;  // its bits
  const LaneMask least = LaneMask{} + (kZero + low);
  const LaneMask most = LaneMask{} + (kZero + high);
  LaneMask bits = reinterpret_cast<LaneMask>(a + kUnit);
  bits = bits > least ? bits : least;
  bits = bits < most ? bits : most;
  return reinterpret_cast<Lanes>(bits) - kUnit;
}

// 1 / a; 0 where a is 0.
RC_LANES_INLINE Lanes inverse(Lanes a) {
  const LaneMask zero = a == 0.0f;
  return select(zero, Lanes{}, 1.0f / select(zero, all_lanes(1.0f), a));
}

// Rows of eight become columns.
RC_LANES_INLINE void transpose(Lanes* rows) {
  Lanes pairs[8];
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    const Lanes a = rows[i], b = rows[i + 1];
    pairs[i] = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);
    pairs[i + 1] = __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
  }
  Lanes fours[8];
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {
#pragma GCC unroll 2
    for (int k = 0; k < 2; ++k) {
      const Lanes a = pairs[i + k], b = pairs[i + k + 2];
      fours[i + 2 * k] =
          __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
      fours[i + 2 * k + 1] =
          __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const Lanes a = fours[i], b = fours[i + 4];
    rows[i] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
    rows[i + 4] = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

// The lanes in their order.
RC_LANES_INLINE double sum(Lanes a) {
  double total = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    total += static_cast<double>(a[lane]);
  }
  return total;
}

// Element i of `count` groups of kGroup elements, one after the other, in
// to[i], and `rest` in lanes without a group.
template <int kGroup>
RC_LANES_INLINE void load_groups(const float* from, int count, float rest,
                                 float (*to)[kLanes]) {
  static_assert(kGroup % kLanes == 0);
  for (int first = 0; first < kGroup; first += kLanes) {
    Lanes rows[kLanes];
#pragma GCC unroll 8
    for (int g = 0; g < kLanes; ++g) {
      rows[g] =
          g < count ? load_lanes(from + g * kGroup + first) : all_lanes(rest);
    }
    transpose(rows);
#pragma GCC unroll 8
    for (int i = 0; i < kLanes; ++i) {
      std::memcpy(to[first + i], &rows[i], sizeof rows[i]);
    }
  }
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
    load_groups<kGroup>(from, count, 0.0f, values);
    if (w != nullptr) {
      load_groups<kGroup>(w, count, 1.0f, weights);
    } else {
      for (int i = 0; i < kGroup; ++i) {
        for (int g = 0; g < kLanes; ++g) weights[i][g] = 1.0f;
      }
    }
  }
};

}  // namespace rc::quantize
