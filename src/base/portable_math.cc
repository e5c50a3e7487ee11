#include "base/portable_math.h"

#include <bit>
#include <cstdint>

namespace rc {
namespace {

// ln 2 in two parts; products of the first with integers below 2^11 are exact.
constexpr double kLn2High = 0x1.62e42fefa3800p-1;
constexpr double kLn2Low = 0x1.ef35793c76730p-45;
constexpr double kLog2E = 0x1.71547652b82fep+0;
constexpr double kSqrt2 = 0x1.6a09e667f3bcdp+0;

}  // namespace

double portable_log(double x) {
  const auto bits = std::bit_cast<uint64_t>(x);
  auto exponent = static_cast<int64_t>(bits >> 52) - 1023;
  auto m =
      std::bit_cast<double>((bits & 0x000fffffffffffffu) | 0x3ff0000000000000u);
  if (m > kSqrt2) {
    m *= 0.5;
    ++exponent;
  }
  // ln m = 2 artanh((m - 1) / (m + 1)); the argument is below 0.172.
  const double z = (m - 1.0) / (m + 1.0);
  const double square = z * z;
  double sum = 1.0 / 21.0;
  for (int k = 19; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  const auto whole = static_cast<double>(exponent);
  return whole * kLn2High + (2.0 * z * sum + whole * kLn2Low);
}

double portable_exp(double x) {
  // x = n ln 2 + r with r at most ln 2 / 2.
  const double scaled = x * kLog2E;
  const auto n = static_cast<int64_t>(scaled + (scaled < 0.0 ? -0.5 : 0.5));
  const auto whole = static_cast<double>(n);
  const double r = (x - whole * kLn2High) - whole * kLn2Low;
  double sum = 1.0;
  for (int k = 17; k >= 1; --k) sum = sum * r / k + 1.0;
  // 2^n, a normal number.
  return sum * std::bit_cast<double>(static_cast<uint64_t>(n + 1023) << 52);
}

}  // namespace rc
