// Arithmetic that reports overflow instead of wrapping. Sizes that come from a
// file go through here.
#pragma once

#include <concepts>
#include <optional>

namespace rc {

template <std::integral T>
std::optional<T> checked_add(T a, T b) {
  T result;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}

template <std::integral T>
std::optional<T> checked_mul(T a, T b) {
  T result;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

// The smallest multiple of `alignment` that is not below `value`.
template <std::integral T>
std::optional<T> checked_align(T value, T alignment) {
  const T rest = value % alignment;
  return rest == 0 ? std::optional<T>(value)
                   : checked_add(value, static_cast<T>(alignment - rest));
}

}  // namespace rc
