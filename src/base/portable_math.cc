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

double portable_exp(double x) {
  if (!(x >= -708.0)) return 0.0;
  if (x > 0.0) x = 0.0;
  // x = n ln 2 + r with |r| <= ln 2 / 2, then e^x = 2^n e^r. x <= 0, so
  // truncation after subtracting a half rounds to the nearest.
  const auto n = static_cast<int64_t>(x * kLog2E - 0.5);
  const auto whole = static_cast<double>(n);
  const double r = (x - whole * kLn2High) - whole * kLn2Low;
  // Taylor's series; the first term left out is below 2^-57.
  constexpr double kInverseFactorial[] = {1.0 / 6227020800.0,
                                          1.0 / 479001600.0,
                                          1.0 / 39916800.0,
                                          1.0 / 3628800.0,
                                          1.0 / 362880.0,
                                          1.0 / 40320.0,
                                          1.0 / 5040.0,
                                          1.0 / 720.0,
                                          1.0 / 120.0,
                                          1.0 / 24.0,
                                          1.0 / 6.0,
                                          1.0 / 2.0,
                                          1.0};
  double sum = kInverseFactorial[0];
  for (int i = 1; i < 13; ++i) sum = sum * r + kInverseFactorial[i];
  sum = sum * r + 1.0;
  const auto power =
      std::bit_cast<double>(static_cast<uint64_t>(n + 1023) << 52);
  return sum * power;
}

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

}  // namespace rc
