// Compares the shares of drawn tokens with those of a naive implementation of
// the chain.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "labels.h"
#include "sampler_util.h"

namespace rc::engine {
namespace {

// The chain, computed without any cleverness: probabilities by token.
std::map<TokenId, double> expected_shares(const SamplingOptions& options,
                                          const std::vector<float>& logits) {
  struct Entry {
    TokenId id;
    double logit, p;
  };
  std::vector<Entry> all;
  for (size_t i = 0; i < logits.size(); ++i) {
    all.push_back({static_cast<TokenId>(i), logits[i], 0});
  }
  const auto by_logit = [](const Entry& a, const Entry& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
  };
  const auto normalize = [&](double temperature) {
    std::sort(all.begin(), all.end(), by_logit);
    double sum = 0;
    for (Entry& e : all) {
      e.p = std::exp((e.logit - all[0].logit) / temperature);
      sum += e.p;
    }
    for (Entry& e : all) e.p /= sum;
  };
  if (options.top_n_sigma > 0.0f) {
    double sum = 0, squares = 0, best = all[0].logit;
    for (const Entry& e : all) sum += e.logit;
    const auto count = static_cast<double>(all.size());
    for (const Entry& e : all) {
      squares += std::pow(e.logit - sum / count, 2);
      best = std::max(best, e.logit);
    }
    const double deviation = std::sqrt(squares / count);
    std::erase_if(all, [&](const Entry& e) {
      return e.logit < best - options.top_n_sigma * deviation;
    });
  }
  normalize(1.0);
  if (options.top_k > 0 && all.size() > static_cast<size_t>(options.top_k)) {
    all.resize(static_cast<size_t>(options.top_k));
  }
  normalize(1.0);
  const auto keep_until = [&](double wanted) {
    double sum = 0;
    size_t kept = 0;
    while (kept < all.size() && (kept == 0 || sum < wanted)) {
      sum += all[kept++].p;
    }
    all.resize(kept);
  };
  if (options.typical_p < 1.0f) {
    double entropy = 0;
    for (const Entry& e : all) entropy -= e.p * std::log(e.p);
    std::sort(all.begin(), all.end(), [&](const Entry& a, const Entry& b) {
      return std::abs(-std::log(a.p) - entropy) <
             std::abs(-std::log(b.p) - entropy);
    });
    keep_until(options.typical_p);
    normalize(1.0);
  }
  if (options.top_p < 1.0f) {
    keep_until(options.top_p);
    normalize(1.0);
  }
  const double least = all[0].p * options.min_p;
  std::erase_if(all, [&](const Entry& e) { return e.p < least; });
  normalize(options.temperature);
  std::map<TokenId, double> result;
  for (const Entry& e : all) result[e.id] = e.p;
  return result;
}

void expect_shares(const SamplingOptions& options,
                   const std::vector<float>& logits) {
  const auto expected = expected_shares(options, logits);
  const auto drawn = shares(options, logits);
  for (const auto& [token, share] : drawn) {
    ASSERT_TRUE(expected.contains(token)) << "token " << token;
  }
  for (const auto& [token, share] : expected) {
    const auto found = drawn.find(token);
    const double got = found == drawn.end() ? 0.0 : found->second;
    // Five standard errors.
    const double error = 5 * std::sqrt(share * (1 - share) / 10000) + 1e-4;
    EXPECT_NEAR(got, share, error) << "token " << token;
  }
}

TEST(SamplerShares, DrawsFromTheSoftmax) {
  RC_TEST_LABELS(kSerial);
  expect_shares(plain(), {1, 2, 3, 0, -1});
}

TEST(SamplerShares, EachStageKeepsTheExpectedTokens) {
  RC_TEST_LABELS(kSerial);
  const std::vector<float> logits = random_logits(300, 3);
  SamplingOptions options = plain();
  options.top_k = 7;
  expect_shares(options, logits);
  options = plain();
  options.top_p = 0.6f;
  expect_shares(options, logits);
  options = plain();
  options.min_p = 0.2f;
  expect_shares(options, logits);
  options = plain();
  options.typical_p = 0.5f;
  expect_shares(options, logits);
  options = plain();
  options.top_n_sigma = 0.8f;
  expect_shares(options, logits);
  options = plain();
  options.temperature = 0.5f;
  expect_shares(options, logits);
}

TEST(SamplerShares, TopNSigmaIgnoresForbiddenTokens) {
  RC_TEST_LABELS(kSerial);
  SamplingOptions options = plain();
  options.top_n_sigma = 1.5f;
  // Their mean is 3 and their deviation the square root of 2: down to 2.88.
  const std::vector<float> logits = {5, 1, 3, 2, 4};
  EXPECT_EQ(shares(options, logits).size(), 3u);
  // The deviation of 1, 2 and 3 is 0.82: down to 1.78.
  options.biases = {{0, -kInfinity}, {4, -kInfinity}};
  const auto drawn = shares(options, logits);
  EXPECT_EQ(drawn.size(), 2u);
  EXPECT_FALSE(drawn.contains(1));
  // Equal logits deviate by nothing, and are all the best.
  options.biases.clear();
  EXPECT_EQ(shares(options, {2, 2, 2}).size(), 3u);
}

TEST(SamplerShares, StagesCombine) {
  RC_TEST_LABELS(kSerial);
  const std::vector<float> logits = random_logits(1000, 4);
  SamplingOptions options = plain();
  options.top_k = 100;
  options.typical_p = 0.9f;
  options.top_p = 0.9f;
  options.min_p = 0.1f;
  options.temperature = 1.3f;
  expect_shares(options, logits);
  options.top_k = 0;
  expect_shares(options, logits);
  options.top_n_sigma = 0.5f;
  expect_shares(options, logits);
  options.top_k = 30;
  expect_shares(options, logits);
}

// Each draw, not only their shares: the token at which the sum of
// probabilities, from the best token on, exceeds the generator's number.
TEST(SamplerShares, DrawFollowsTheNumberOfTheGenerator) {
  RC_TEST_LABELS(kSerial);
  std::vector<float> logits = random_logits(20001, 7);
  for (size_t i = 0; i < logits.size(); i += 3) {
    logits[i] = std::round(logits[i]);  // many ties
  }
  SamplingOptions top_p = plain();
  top_p.top_p = 0.8f;
  top_p.temperature = 0.7f;
  SamplingOptions hot = plain();
  hot.temperature = 5.0f;
  SamplingOptions most = plain();
  most.top_p = 0.9f;
  most.min_p = 0.01f;
  SamplingOptions top_k = plain();
  top_k.top_k = 1000;
  top_k.top_p = 0.5f;
  for (const SamplingOptions& options : {plain(), top_p, hot, most, top_k}) {
    struct Entry {
      TokenId id;
      double share;
    };
    std::vector<Entry> entries;
    for (const auto& [id, share] : expected_shares(options, logits)) {
      entries.push_back({id, share});
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [&](const Entry& a, const Entry& b) {
                       return logits[static_cast<size_t>(a.id)] >
                              logits[static_cast<size_t>(b.id)];
                     });
    Sampler sampler(options, logits.size());
    Random random(options.seed);
    for (int i = 0; i < 300; ++i) {
      const double point = random.uniform();
      double sum = 0.0;
      size_t at = 0;
      while (at + 1 < entries.size() && (sum += entries[at].share) <= point) {
        ++at;
      }
      ASSERT_EQ(sampler.choose(logits, {}), entries[at].id) << "draw " << i;
    }
  }
}

// A top-k scan over many more tokens than it keeps at once.
TEST(SamplerShares, TopKWorksOnALargeVocabulary) {
  RC_TEST_LABELS(kSerial);
  std::vector<float> logits(150000);
  for (size_t i = 0; i < logits.size(); ++i) {
    logits[i] = static_cast<float>(i) * 1e-4f;  // rising: the worst order
  }
  SamplingOptions options = plain();
  options.top_k = 3;
  const auto drawn = shares(options, logits, 200);
  EXPECT_EQ(drawn.size(), 3u);
  EXPECT_EQ(drawn.begin()->first, 149997);
}

}  // namespace
}  // namespace rc::engine
