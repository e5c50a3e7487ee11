#include "text/grammar/decimal.h"

#include <algorithm>

#include "base/error.h"
#include "base/quote.h"

namespace rc::text::grammar {
namespace {

// As if both had the same sign, plus.
int compare_magnitude(const Decimal& a, const Decimal& b) {
  if (a.zero() || b.zero()) return int{!a.zero()} - int{!b.zero()};
  if (a.exponent != b.exponent) return a.exponent < b.exponent ? -1 : 1;
  return a.digits.compare(b.digits);
}

}  // namespace

std::string Decimal::whole() const {
  if (zero() || exponent <= 0) return "0";
  const auto size = static_cast<size_t>(exponent);
  std::string result = digits.substr(0, size);
  result.append(size - result.size(), '0');
  return result;
}

std::string Decimal::fraction() const {
  if (zero()) return "";
  if (exponent <= 0) {
    return std::string(static_cast<size_t>(-exponent), '0') + digits;
  }
  const auto size = static_cast<size_t>(exponent);
  return size < digits.size() ? digits.substr(size) : "";
}

Decimal parse_decimal(std::string_view number) {
  Decimal result;
  const std::string_view given = number;
  if (number.starts_with('-')) {
    result.negative = true;
    number.remove_prefix(1);
  }
  const size_t mantissa = std::min(number.find_first_of("eE"), number.size());
  long exponent = 0;
  if (mantissa < number.size()) {
    std::string_view text = number.substr(mantissa + 1);
    const bool minus = text.starts_with('-');
    if (minus || text.starts_with('+')) text.remove_prefix(1);
    for (const char c : text) {
      exponent = std::min(exponent * 10 + (c - '0'), long{1'000'000});
    }
    if (minus) exponent = -exponent;
  }
  bool fraction = false;
  for (const char c : number.substr(0, mantissa)) {
    if (c == '.') {
      fraction = true;
      continue;
    }
    if (!fraction) ++exponent;
    if (c == '0' && result.digits.empty()) {
      --exponent;  // a leading zero counts for nothing
      continue;
    }
    result.digits += c;
  }
  while (result.digits.ends_with('0')) result.digits.pop_back();
  if (result.zero()) return Decimal();
  if (std::abs(exponent) > kMaxExponent) {
    fail(RC_E_UNSUPPORTED, "the number ", quote(given), " is beyond 10^",
         kMaxExponent);
  }
  result.exponent = static_cast<int>(exponent);
  return result;
}

int compare(const Decimal& a, const Decimal& b) {
  if (a.negative != b.negative) return a.negative ? -1 : 1;
  const int magnitude = compare_magnitude(a, b);
  return a.negative ? -magnitude : magnitude;
}

}  // namespace rc::text::grammar
