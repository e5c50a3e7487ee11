#include "base/checked.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace rc {
namespace {

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

TEST(Checked, AddReportsOverflow) {
  EXPECT_EQ(checked_add<uint64_t>(kMax - 1, 1), kMax);
  EXPECT_FALSE(checked_add<uint64_t>(kMax, 1));
  EXPECT_FALSE(checked_add<int64_t>(std::numeric_limits<int64_t>::min(), -1));
}

TEST(Checked, MulReportsOverflow) {
  EXPECT_EQ(checked_mul<uint64_t>(1ull << 32, 1ull << 31), 1ull << 63);
  EXPECT_FALSE(checked_mul<uint64_t>(1ull << 32, 1ull << 32));
  EXPECT_FALSE(checked_mul<int32_t>(65536, 32768));
}

TEST(Checked, AlignRoundsUp) {
  EXPECT_EQ(checked_align<uint64_t>(0, 32), 0u);
  EXPECT_EQ(checked_align<uint64_t>(1, 32), 32u);
  EXPECT_EQ(checked_align<uint64_t>(64, 32), 64u);
  EXPECT_FALSE(checked_align<uint64_t>(kMax - 3, 32));
}

}  // namespace
}  // namespace rc
