#include "tensor/wide.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/error.h"
#include "tensor/half.h"

namespace rc {
namespace {

// Rounded to odd, so that rounding once more, to a type with fewer digits, is
// as rounding once (Boldo and Melquiond 2008, "Emulation of a FMA and
// correctly rounded sums").
float to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  if (std::isnan(value) || static_cast<double>(nearest) == value) {
    return nearest;
  }
  auto bits = std::bit_cast<uint32_t>(nearest);
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(value)) --bits;
  return std::bit_cast<float>(bits | 1u);
}

uint16_t to_f16(double value) { return f32_to_f16(to_odd(value)); }
uint16_t to_bf16(double value) { return f32_to_bf16(to_odd(value)); }
double of_f16(uint16_t bits) { return f16_to_f32(bits); }
double of_bf16(uint16_t bits) { return bf16_to_f32(bits); }

template <class T>
double widen(T value) {
  return static_cast<double>(value);
}

template <class T>
T narrow(double value) {
  if constexpr (std::is_integral_v<T>) {
    if (std::isnan(value)) return 0;
    // Powers of two, exact as doubles; the upper one is no T.
    constexpr double kLimit =
        -static_cast<double>(std::numeric_limits<T>::min());
    if (value >= kLimit) return std::numeric_limits<T>::max();
    if (value <= -kLimit) return std::numeric_limits<T>::min();
    // Up to half above the largest T.
    const double whole = std::nearbyint(value);
    return whole >= kLimit ? std::numeric_limits<T>::max()
                           : static_cast<T>(whole);
  } else {
    return static_cast<T>(value);
  }
}

template <class T, double (*kConvert)(T) = widen<T>>
void decode(const void* source, double* target, int64_t columns) {
  const auto* bytes = static_cast<const char*>(source);
  for (int64_t i = 0; i < columns; ++i) {
    T value;
    std::memcpy(&value, bytes + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
    target[i] = kConvert(value);
  }
}

template <class T, T (*kConvert)(double) = narrow<T>>
void encode(const double* source, void* target, int64_t columns) {
  auto* bytes = static_cast<char*>(target);
  for (int64_t i = 0; i < columns; ++i) {
    const T value = kConvert(source[i]);
    std::memcpy(bytes + i * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
  }
}

[[noreturn]] void refuse(DType dtype) {
  fail(RC_E_UNSUPPORTED, "no conversion of ", dtype_name(dtype),
       " from or to F64: it has blocks");
}

}  // namespace

void decode_row(DType dtype, const void* source, double* target,
                int64_t columns) {
  switch (dtype) {
    case RC_DTYPE_F32:
      return decode<float>(source, target, columns);
    case RC_DTYPE_F64:
      return decode<double>(source, target, columns);
    case RC_DTYPE_F16:
      return decode<uint16_t, of_f16>(source, target, columns);
    case RC_DTYPE_BF16:
      return decode<uint16_t, of_bf16>(source, target, columns);
    case RC_DTYPE_I8:
      return decode<int8_t>(source, target, columns);
    case RC_DTYPE_I16:
      return decode<int16_t>(source, target, columns);
    case RC_DTYPE_I32:
      return decode<int32_t>(source, target, columns);
    case RC_DTYPE_I64:
      return decode<int64_t>(source, target, columns);
  }
  refuse(dtype);
}

void encode_row(DType dtype, const double* source, void* target,
                int64_t columns) {
  switch (dtype) {
    case RC_DTYPE_F32:
      return encode<float>(source, target, columns);
    case RC_DTYPE_F64:
      return encode<double>(source, target, columns);
    case RC_DTYPE_F16:
      return encode<uint16_t, to_f16>(source, target, columns);
    case RC_DTYPE_BF16:
      return encode<uint16_t, to_bf16>(source, target, columns);
    case RC_DTYPE_I8:
      return encode<int8_t>(source, target, columns);
    case RC_DTYPE_I16:
      return encode<int16_t>(source, target, columns);
    case RC_DTYPE_I32:
      return encode<int32_t>(source, target, columns);
    case RC_DTYPE_I64:
      return encode<int64_t>(source, target, columns);
  }
  refuse(dtype);
}

}  // namespace rc
