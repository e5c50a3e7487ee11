#include "text/chat/numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/checked.h"
#include "text/chat/unicode.h"

namespace rc::text::chat {
namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;

[[noreturn]] void too_big(const char* what) {
  fault_of_limit(what,
                 " is a whole number of more than 64 bits: use floats (1.0 "
                 "instead of 1) for numbers of this size");
}

int64_t or_too_big(std::optional<int64_t> value, const char* what) {
  if (!value) too_big(what);
  return *value;
}

std::partial_ordering compare_mixed(int64_t a, double b) {
  if (std::isnan(b)) return std::partial_ordering::unordered;
  if (b >= kTwoTo63) return std::partial_ordering::less;
  if (b < -kTwoTo63) return std::partial_ordering::greater;
  const auto whole = static_cast<int64_t>(b);
  if (a != whole) return a <=> whole;
  return 0.0 <=> b - static_cast<double>(whole);
}

int64_t floor_divide(int64_t a, int64_t b) {
  if (b == 0) fault("division by zero");
  if (a == INT64_MIN && b == -1) too_big("the quotient");
  const int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

int64_t modulo(int64_t a, int64_t b) {
  if (b == 0) fault("division by zero");
  if (b == -1) return 0;
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

double modulo(double a, double b) {
  if (b == 0) fault("division by zero");
  const double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

double floor_divide(double a, double b) {
  if (b == 0) fault("division by zero");
  // As CPython: from the remainder, so that a == b * q + r about.
  double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1.0;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double whole = std::floor(quotient);
  return quotient - whole > 0.5 ? whole + 1.0 : whole;
}

Value power(const Value& a, const Value& b) {
  if (a.is_int() && b.is_int() && b.as_int() >= 0) {
    int64_t base = a.as_int();
    int64_t result = 1;
    for (int64_t exponent = b.as_int(); exponent > 0;) {
      if ((exponent & 1) != 0) {
        result = or_too_big(checked_mul(result, base), "the power");
      }
      exponent >>= 1;
      // Of 0, 1 and -1 nothing overflows, of others no large exponent is left.
      if (exponent > 0) base = or_too_big(checked_mul(base, base), "the power");
    }
    return Value::integer(result);
  }
  const double base = a.as_real();
  const double exponent = b.as_real();
  if (base == 0 && exponent < 0) fault("0 can't be raised to a negative power");
  if (base < 0 && std::isfinite(exponent) && exponent != std::floor(exponent)) {
    fault_of_limit("the power is a complex number, which templates don't have");
  }
  const double result = std::pow(base, exponent);
  if (std::isinf(result) && std::isfinite(base) && std::isfinite(exponent)) {
    fault("the power is beyond the range of floats");
  }
  return Value::real(result);
}

Value calculate_ints(Arithmetic operation, int64_t a, int64_t b) {
  switch (operation) {
    case Arithmetic::kAdd:
      return Value::integer(or_too_big(checked_add(a, b), "the sum"));
    case Arithmetic::kSub: {
      int64_t result;
      if (__builtin_sub_overflow(a, b, &result)) too_big("the difference");
      return Value::integer(result);
    }
    case Arithmetic::kMul:
      return Value::integer(or_too_big(checked_mul(a, b), "the product"));
    case Arithmetic::kFloorDiv:
      return Value::integer(floor_divide(a, b));
    default:
      return Value::integer(modulo(a, b));
  }
}

Value calculate_floats(Arithmetic operation, double a, double b) {
  switch (operation) {
    case Arithmetic::kAdd:
      return Value::real(a + b);
    case Arithmetic::kSub:
      return Value::real(a - b);
    case Arithmetic::kMul:
      return Value::real(a * b);
    case Arithmetic::kDiv:
      if (b == 0) fault("division by zero");
      return Value::real(a / b);
    case Arithmetic::kFloorDiv:
      return Value::real(floor_divide(a, b));
    default:
      return Value::real(modulo(a, b));
  }
}

}  // namespace

std::partial_ordering compare_numbers(const Value& a, const Value& b) {
  if (a.is_int() && b.is_int()) return a.as_int() <=> b.as_int();
  if (a.is_int()) return compare_mixed(a.as_int(), b.as_real());
  if (b.is_int()) return 0 <=> compare_mixed(b.as_int(), a.as_real());
  return a.as_real() <=> b.as_real();
}

std::optional<int64_t> truncate_to_int(double value) {
  if (!std::isfinite(value)) return std::nullopt;
  const double whole = std::trunc(value);
  if (whole >= kTwoTo63 || whole < -kTwoTo63) too_big("the float");
  return static_cast<int64_t>(whole);
}

Value calculate(Arithmetic operation, const Value& a, const Value& b) {
  const bool content =
      a.origin() == Origin::kContent || b.origin() == Origin::kContent;
  const Origin origin = content ? Origin::kContent : Origin::kTemplate;
  if (operation == Arithmetic::kPow) return power(a, b).with_origin(origin);
  if (a.is_int() && b.is_int() && operation != Arithmetic::kDiv) {
    return calculate_ints(operation, a.as_int(), b.as_int())
        .with_origin(origin);
  }
  return calculate_floats(operation, a.as_real(), b.as_real())
      .with_origin(origin);
}

Value negate(const Value& a) {
  if (!a.is_int()) return Value::real(-a.as_real()).with_origin(a.origin());
  return calculate(Arithmetic::kSub, Value::integer(0), a);
}

Value round_number(const Value& value, int64_t digits) {
  if (value.is_int()) {
    if (digits >= 0) {
      return Value::integer(value.as_int()).with_origin(value.origin());
    }
    if (digits < -18) return Value::integer(0).with_origin(value.origin());
    int64_t unit = 1;
    for (int64_t i = digits; i < 0; ++i) unit *= 10;
    const int64_t rest = modulo(value.as_int(), unit);
    const int64_t below = floor_divide(value.as_int(), unit);
    const bool up =
        rest > unit - rest || (rest == unit - rest && (below & 1) != 0);
    const auto rounded = checked_mul(below + (up ? 1 : 0), unit);
    return Value::integer(or_too_big(rounded, "the rounded number"))
        .with_origin(value.origin());
  }
  const double number = value.as_real();
  if (!std::isfinite(number) || digits > 323) return value;
  if (digits < -308) {
    return Value::real(std::copysign(0.0, number)).with_origin(value.origin());
  }
  double rounded;
  if (digits >= 0) {
    rounded = *parse_float(fixed_text(number, static_cast<int>(digits)));
  } else {
    const double unit = std::pow(10.0, static_cast<double>(-digits));
    rounded = std::nearbyint(number / unit) * unit;
    if (std::isinf(rounded)) fault("the rounded number is beyond the floats");
  }
  return Value::real(rounded).with_origin(value.origin());
}

}  // namespace rc::text::chat
