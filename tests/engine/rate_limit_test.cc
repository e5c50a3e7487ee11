// Limits per minute: what may be used at once, and how long to wait.
#include "engine/rate_limit.h"

#include <gtest/gtest.h>

namespace rc::engine::test {
namespace {

using namespace std::chrono_literals;

class RateLimits : public testing::Test {
 protected:
  // Seconds until something is left.
  double wait() const {
    return std::chrono::duration<double>(limit_.free_at(now_) - now_).count();
  }
  // Waiting ends within a millisecond of the time.
  static constexpr double kRounding = 0.002;

  RateLimit limit_{1};
  RateLimit::Clock::time_point now_{1000s};
};

TEST_F(RateLimits, WithoutALimitNothingWaits) {
  EXPECT_EQ(wait(), 0);
  limit_.use(1e12, now_);
  EXPECT_EQ(wait(), 0);
  limit_.set(0, 60s, now_);
  limit_.use(1e12, now_);
  EXPECT_EQ(wait(), 0);
}

TEST_F(RateLimits, ABurstMayBeUsedAtOnce) {
  limit_.set(600, 30s, now_);  // 10 a second, 300 at once
  limit_.use(299, now_);
  EXPECT_EQ(wait(), 0);
  limit_.use(1, now_);
  EXPECT_NEAR(wait(), 0.1, kRounding);
  limit_.use(20, now_);
  EXPECT_NEAR(wait(), 2.1, kRounding);
}

TEST_F(RateLimits, ADebtIsPaidByWaiting) {
  limit_.set(60, 60s, now_);
  limit_.use(160, now_);
  EXPECT_NEAR(wait(), 101, kRounding);
  now_ += 40s;
  EXPECT_NEAR(wait(), 61, kRounding);
  now_ += 62s;
  EXPECT_EQ(wait(), 0);
}

TEST_F(RateLimits, APauseSavesNoMoreThanABurst) {
  limit_.set(60, 10s, now_);
  now_ += 1000s;
  limit_.use(11, now_);
  EXPECT_NEAR(wait(), 2, kRounding);
}

TEST_F(RateLimits, ASmallBurstIsEnough) {
  limit_.set(60, 100ms, now_);  // a tenth of a unit
  EXPECT_EQ(wait(), 0);
  limit_.use(1, now_);
  EXPECT_NEAR(wait(), 1, kRounding);
}

TEST_F(RateLimits, WhatIsNotCountedInUnitsNeedsSomethingOnly) {
  RateLimit limit;
  limit.set(60, 60s, now_);
  limit.use(60.5, now_);
  const std::chrono::duration<double> wait = limit.free_at(now_) - now_;
  EXPECT_NEAR(wait.count(), 0.5, kRounding);
}

TEST_F(RateLimits, TheRateHoldsOverALongTime) {
  limit_.set(6000, 1s, now_);
  const auto began = now_;
  int used = 0;
  while (now_ - began < 100s) {
    const auto next = limit_.free_at(now_);
    if (next > now_) {
      now_ = next;
    } else {
      limit_.use(1, now_);
      ++used;
    }
  }
  // 100 a second, and the burst of one second.
  EXPECT_NEAR(used, 100 * 100 + 100, 20);
}

TEST_F(RateLimits, AChangeKeepsWhatWasUsed) {
  limit_.set(60, 60s, now_);
  limit_.use(70, now_);
  EXPECT_NEAR(wait(), 11, kRounding);
  limit_.set(600, 60s, now_);  // 600 at once, 70 of them used
  EXPECT_EQ(wait(), 0);
  limit_.use(540, now_);
  EXPECT_NEAR(wait(), 1.1, kRounding);
  limit_.set(0, 60s, now_);
  EXPECT_EQ(wait(), 0);
}

}  // namespace
}  // namespace rc::engine::test
