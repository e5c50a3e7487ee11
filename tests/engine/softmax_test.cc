#include "engine/softmax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/logit.h"

namespace rc::engine {
namespace {

// No whole number of blocks.
std::vector<float> falling_logits() {
  std::vector<float> logits;
  for (int i = 0; i < 3001; ++i) logits.push_back(5.0f - 0.01f * (float)i);
  logits.push_back(-kInfinity);
  return logits;
}

TEST(Softmax, WeightsAgreeWithTheLibrary) {
  const std::vector<float> logits = falling_logits();
  Softmax softmax;
  softmax.set(logits);
  EXPECT_EQ(softmax.best(), 5.0f);
  for (float temperature : {0.3f, 1.0f, 7.0f}) {
    std::vector<uint64_t> weights(logits.size());
    const uint64_t total = softmax.weigh(temperature, logits, weights.data());
    EXPECT_EQ(weights[0], kFullWeight);
    EXPECT_EQ(weights.back(), 0u);
    for (size_t i = 0; i < logits.size(); ++i) {
      const double share =
          std::exp((static_cast<double>(logits[i]) - 5.0) / temperature);
      const double expected = share * static_cast<double>(kFullWeight);
      ASSERT_NEAR(static_cast<double>(weights[i]), expected,
                  2e-6 * expected + 0.51)
          << logits[i];
    }
    EXPECT_EQ(total,
              std::accumulate(weights.begin(), weights.end(), uint64_t{0}));
    EXPECT_EQ(softmax.total(temperature), total);
  }
}

// Ties are broken by the index.
TEST(Softmax, ClassesContainTheTokensAboveTheCut) {
  std::vector<float> logits = falling_logits();
  std::fill(logits.begin() + 100, logits.begin() + 300, 4.0f);
  Softmax softmax;
  softmax.set(logits);
  std::vector<uint64_t> weights(logits.size());
  softmax.weigh(1.0f, logits, weights.data());
  for (const Cut& cut : {Cut{-100.0f, logits.size() - 1}, Cut{4.0f, 130},
                         Cut{4.0f, 0}, Cut{0.5f, 450}}) {
    Softmax::Classes classes;
    const uint64_t total = softmax.classify(1.0f, cut, &classes);
    uint64_t expected_total = 0;
    Softmax::Classes found{};
    std::vector<size_t> seen;
    for (size_t one = 0; one + 1 < Softmax::kClasses; ++one) {
      std::vector<size_t> indices;
      softmax.find(1.0f, cut, one, &indices);
      EXPECT_TRUE(std::is_sorted(indices.begin(), indices.end()));
      for (size_t i : indices) {
        found[one] += weights[i];
        seen.push_back(i);
      }
    }
    EXPECT_EQ(found, classes);
    std::sort(seen.begin(), seen.end());
    std::vector<size_t> expected;
    for (size_t i = 0; i < logits.size(); ++i) {
      const bool in =
          logits[i] > cut.least || (logits[i] == cut.least && i <= cut.last);
      if (!in || weights[i] == 0) continue;
      expected.push_back(i);
      expected_total += weights[i];
    }
    std::erase_if(seen, [&](size_t i) { return weights[i] == 0; });
    EXPECT_EQ(seen, expected);
    EXPECT_EQ(total, expected_total);
  }
}

TEST(Softmax, HugeLogitsAndTinyTemperaturesKeepTheTotal) {
  const std::vector<float> logits = {-3.4e38f, 3.4e38f, -kInfinity, 1.0f};
  Softmax softmax;
  softmax.set(logits);
  EXPECT_EQ(softmax.index_of_best(), 1u);
  for (float temperature : {1e-45f, 1e-30f, 1.0f}) {
    EXPECT_EQ(softmax.total(temperature), kFullWeight);
  }
}

TEST(Softmax, TiesGoToTheLowerIndex) {
  std::vector<float> logits(200, -1.0f);
  logits[70] = logits[71] = logits[150] = -0.5f;
  Softmax softmax;
  softmax.set(logits);
  EXPECT_EQ(softmax.index_of_best(), 70u);
}

}  // namespace
}  // namespace rc::engine
