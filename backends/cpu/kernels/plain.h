// How kernels read float weights.
#pragma once

#include "cpu/kernels/simd.h"

namespace rc::cpu::RC_CPU_LEVEL {

// Float weights: column after column, 16 elements at a time.
struct PlainF32 {
  static constexpr int kBytes = 64;
  static RC_SIMD_MEMBER Vf column(const uint8_t* p) {
    return load((const float*)p);
  }
};
struct PlainF16 {
  static constexpr int kBytes = 32;
  static RC_SIMD_MEMBER Vf column(const uint8_t* p) { return load_f16(p); }
};
struct PlainBF16 {
  static constexpr int kBytes = 32;
  static RC_SIMD_MEMBER Vf column(const uint8_t* p) { return load_bf16(p); }
};

}  // namespace rc::cpu::RC_CPU_LEVEL
