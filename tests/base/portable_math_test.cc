#include "base/portable_math.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rc {
namespace {

TEST(PortableMath, LogAgreesWithTheLibrary) {
  EXPECT_EQ(portable_log(1.0), 0.0);
  for (double x = 1e-9; x < 1e12; x *= 1.00371) {
    const double expected = std::log(x);
    ASSERT_NEAR(portable_log(x), expected, 1e-15 * (std::abs(expected) + 0.1))
        << x;
  }
}

TEST(PortableMath, ExpAgreesWithTheLibrary) {
  EXPECT_EQ(portable_exp(0.0), 1.0);
  for (double x = -700.0; x <= 700.0; x += 0.0713) {
    const double expected = std::exp(x);
    ASSERT_NEAR(portable_exp(x), expected, 2e-15 * expected) << x;
  }
}

}  // namespace
}  // namespace rc
