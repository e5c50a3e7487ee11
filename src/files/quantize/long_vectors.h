// Encoders compiled once more for processors with longer vectors. No bit of
// what they write changes: every sum stays in its lane.
#pragma once

#include "files/quantize/encoder.h"

namespace rc::quantize {

template <Encoder kEncode>
#if defined(__x86_64__) && defined(__GNUC__)
[[gnu::target("avx2"), gnu::flatten]]
#endif
void with_long_vectors(const float* x, const float* w, int64_t columns,
                       uint8_t* target) {
  kEncode(x, w, columns, target);
}

inline bool has_long_vectors() {
#if defined(__x86_64__) && defined(__GNUC__)
  static const bool has = __builtin_cpu_supports("avx2");
  return has;
#else
  return false;
#endif
}

// The one for this processor.
template <Encoder kEncode>
Encoder best_of() {
  return has_long_vectors() ? with_long_vectors<kEncode> : kEncode;
}

}  // namespace rc::quantize
