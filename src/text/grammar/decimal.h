// Decimal numbers of any size, exactly.
#pragma once

#include <string>
#include <string_view>

namespace rc::text::grammar {

// sign * 0.digits * 10^exponent; digits neither begin nor end with 0, and zero
// has none (and no sign).
struct Decimal {
  bool negative = false;
  std::string digits;
  int exponent = 0;

  bool zero() const { return digits.empty(); }
  // The digits before the point ("0" if there are none) and after it ("").
  std::string whole() const;
  std::string fraction() const;
};

// The value of a JSON number. Throws RC_E_UNSUPPORTED if its exponent is
// beyond kMaxExponent.
Decimal parse_decimal(std::string_view number);
inline constexpr int kMaxExponent = 400;

// Below, at or above zero as a is below, at or above b.
int compare(const Decimal& a, const Decimal& b);

}  // namespace rc::text::grammar
