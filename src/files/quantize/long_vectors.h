// Encoders, and what else works on lanes, compiled once more for processors
// with longer vectors. No bit of the results changes: every sum stays in its
// lane.
#pragma once

namespace rc::quantize {

template <auto* kFunction>
struct LongVectors;
template <class Result, class... Arguments, Result (*kFunction)(Arguments...)>
struct LongVectors<kFunction> {
#if defined(__x86_64__) && defined(__GNUC__)
  [[gnu::target("avx2"), gnu::flatten]]
#endif
  static Result
  call(Arguments... arguments) {
    return kFunction(arguments...);
  }
};

inline bool has_long_vectors() {
#if defined(__x86_64__) && defined(__GNUC__)
  static const bool has = __builtin_cpu_supports("avx2");
  return has;
#else
  return false;
#endif
}

// The one for this processor.
template <auto* kFunction>
auto* best_of() {
  return has_long_vectors() ? LongVectors<kFunction>::call : kFunction;
}

}  // namespace rc::quantize
