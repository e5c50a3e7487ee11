#include "base/random.h"

#include <gtest/gtest.h>

namespace rc {
namespace {

// The numbers that the demo program of the author's "minimal C" release prints
// for seed 42 and stream 54.
TEST(Random, MatchesTheReferenceImplementation) {
  Random random(42, 54);
  const uint32_t expected[] = {0xa15c02b7, 0x7b47f409, 0xba1d3330,
                               0x83d2f293, 0xbfa4784b, 0xcbed606e};
  for (uint32_t value : expected) EXPECT_EQ(random.next(), value);
}

TEST(Random, UniformUsesBothOutputs) {
  Random random(42, 54);
  EXPECT_EQ(random.uniform(),
            static_cast<double>(0xa15c02b77b47f409u >> 11) / 0x1p53);
}

TEST(Random, UniformStaysInRange) {
  Random random(7);
  double sum = 0;
  for (int i = 0; i < 100000; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
  }
  // The standard error of the mean is 0.0009.
  EXPECT_NEAR(sum / 100000, 0.5, 0.005);
}

TEST(Random, StreamsAndSeedsDiffer) {
  EXPECT_NE(Random(1).next(), Random(2).next());
  EXPECT_NE(Random(1, 1).next(), Random(1, 2).next());
}

}  // namespace
}  // namespace rc
