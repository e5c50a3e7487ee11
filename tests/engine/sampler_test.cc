#include "engine/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "base/error.h"

namespace rc::engine {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Every stage off: draws from the softmax of the logits.
SamplingOptions plain(uint64_t seed = 1) {
  SamplingOptions options;
  options.seed = seed;
  options.temperature = 1.0f;
  options.top_k = 0;
  options.top_p = 1.0f;
  options.min_p = 0.0f;
  options.penalty_tokens = 0;
  return options;
}

SamplingOptions greedy() {
  SamplingOptions options = plain();
  options.temperature = 0.0f;
  return options;
}

TokenId once(const SamplingOptions& options, const std::vector<float>& logits,
             const std::vector<TokenId>& history = {}) {
  return Sampler(options, logits.size()).choose(logits, history);
}

std::vector<float> random_logits(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0f, 2.0f);
  std::vector<float> logits(count);
  for (float& logit : logits) logit = normal(random);
  return logits;
}

// The share of each token in many draws.
std::map<TokenId, double> shares(const SamplingOptions& options,
                                 const std::vector<float>& logits,
                                 int draws = 10000) {
  Sampler sampler(options, logits.size());
  std::map<TokenId, double> result;
  for (int i = 0; i < draws; ++i) {
    result[sampler.choose(logits, {})] += 1.0 / draws;
  }
  return result;
}

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

TEST(Sampler, DrawsFromTheSoftmax) { expect_shares(plain(), {1, 2, 3, 0, -1}); }

TEST(Sampler, EachStageKeepsWhatItShould) {
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

TEST(Sampler, TopNSigmaLeavesOutForbiddenTokens) {
  SamplingOptions options = plain();
  options.top_n_sigma = 1.5f;
  // Their mean is 3 and their deviation the square root of 2: down to 2.88.
  const std::vector<float> logits = {5, 1, 3, 2, 4};
  EXPECT_EQ(shares(options, logits).size(), 3u);
  // Of 1, 2 and 3 the deviation is 0.82: down to 1.78.
  options.biases = {{0, -kInfinity}, {4, -kInfinity}};
  const auto drawn = shares(options, logits);
  EXPECT_EQ(drawn.size(), 2u);
  EXPECT_FALSE(drawn.contains(1));
  // Equal logits deviate by nothing, and are all the best.
  options.biases.clear();
  EXPECT_EQ(shares(options, {2, 2, 2}).size(), 3u);
}

TEST(Sampler, StagesTogether) {
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
TEST(Sampler, DrawsWhatTheGeneratorSays) {
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
TEST(Sampler, TopKOfALargeVocabulary) {
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

TEST(Sampler, TiesGoToTheLowerId) {
  EXPECT_EQ(once(greedy(), {1, 5, 5, 5, 0}), 1);
  std::vector<float> flat(5000, 1.0f);
  SamplingOptions options = plain();
  options.top_k = 4;
  for (const auto& [token, share] : shares(options, flat, 500)) {
    EXPECT_LT(token, 4);
  }
  options.top_k = 0;
  options.top_p = 0.00099f;  // five of them
  for (const auto& [token, share] : shares(options, flat, 500)) {
    EXPECT_LT(token, 5);
  }
}

TEST(Sampler, SameSeedSameTokens) {
  const std::vector<float> logits = random_logits(32000, 5);
  SamplingOptions options = plain(99);
  options.top_p = 0.95f;
  Sampler a(options, logits.size());
  Sampler b(options, logits.size());
  options.seed = 100;
  Sampler c(options, logits.size());
  int same = 0;
  for (int i = 0; i < 100; ++i) {
    const TokenId token = a.choose(logits, {});
    EXPECT_EQ(b.choose(logits, {}), token);
    same += c.choose(logits, {}) == token;
  }
  EXPECT_LT(same, 50);
}

// Fixed for ever: a change here changes what a seed means.
TEST(Sampler, KnownAnswers) {
  SamplingOptions options = plain(2026);
  options.top_k = 40;
  options.top_p = 0.95f;
  options.temperature = 0.8f;
  std::vector<float> logits(100);
  for (size_t i = 0; i < logits.size(); ++i) {
    logits[i] = static_cast<float>((i * 37) % 101) * 0.05f;
  }
  Sampler sampler(options, logits.size());
  std::vector<TokenId> drawn;
  for (int i = 0; i < 8; ++i) drawn.push_back(sampler.choose(logits, {}));
  EXPECT_EQ(drawn, std::vector<TokenId>({30, 8, 38, 95, 13, 16, 90, 62}));
}

TEST(Sampler, BiasAddsAndForbids) {
  SamplingOptions options = greedy();
  options.biases = {{0, 10.0f}};
  EXPECT_EQ(once(options, {1, 5, 3}), 0);
  options.biases = {{1, -kInfinity}};
  EXPECT_EQ(once(options, {1, 5, 3}), 2);
  options = plain();
  options.biases = {{1, -kInfinity}, {2, -kInfinity}};
  EXPECT_EQ(shares(options, {1, 5, 3}, 100).size(), 1u);
  // A bias does not bring back what the model itself forbids.
  options = greedy();
  options.biases = {{0, 3e38f}};
  EXPECT_EQ(once(options, {-kInfinity, 0, 1}), 2);
}

TEST(Sampler, HugeNumbersStayNumbers) {
  SamplingOptions options = plain();
  options.biases = {{0, 3.4e38f}};
  options.temperature = 1e-30f;
  options.typical_p = 0.9f;
  EXPECT_EQ(once(options, {3.4e38f, 1, -3.4e38f}), 0);
}

// Whatever passes the checks gives a token: nothing overflows into what is no
// number.
TEST(Sampler, EveryCombinationOfExtremesChooses) {
  constexpr float kMost = std::numeric_limits<float>::max();
  constexpr float kLeast = std::numeric_limits<float>::denorm_min();
  constexpr float kSmall = std::numeric_limits<float>::min();
  const std::vector<std::vector<float>> all_logits = {
      {0, 0, 0, 0},
      {1, -1, 2, -2},
      {kMost, -kMost, kMost, -kMost},
      {-kMost, -kMost, -kMost, -kMost},
      {kMost, kMost, -kInfinity, 0},
      {kLeast, -kLeast, kSmall, -kSmall}};
  const std::vector<float> penalties = {0,      1,      -1,    kMost,
                                        -kMost, kLeast, 1e30f, -1e30f};
  const std::vector<TokenId> history = {0, 0, 1, 2, 3, 3, 3};
  for (const auto& logits : all_logits) {
    for (const float repetition : {1.0f, kMost, kLeast, kSmall, 1e30f}) {
      for (const float presence : penalties) {
        for (const float frequency : penalties) {
          for (const float temperature : {0.0f, 1.0f, kMost, kLeast}) {
            SamplingOptions options = plain();
            options.penalty_tokens = -1;
            options.repetition_penalty = repetition;
            options.presence_penalty = presence;
            options.frequency_penalty = frequency;
            options.temperature = temperature;
            options.biases = {{0, presence}, {0, frequency}, {1, kMost}};
            for (const bool filters : {false, true}) {
              if (filters) {
                options.top_k = 3;
                options.top_p = kLeast;
                options.min_p = kLeast;
                options.typical_p = kLeast;
              }
              check(options, 4);
              const TokenId token = once(options, logits, history);
              ASSERT_GE(token, 0);
              ASSERT_LT(token, 4);
              ASSERT_NE(logits[static_cast<size_t>(token)], -kInfinity);
            }
          }
        }
      }
    }
  }
}

TEST(Sampler, HugePenaltiesForbidOrPrefer) {
  constexpr float kMost = std::numeric_limits<float>::max();
  SamplingOptions options = greedy();
  options.penalty_tokens = -1;
  for (float SamplingOptions::*const penalty :
       {&SamplingOptions::repetition_penalty,
        &SamplingOptions::presence_penalty,
        &SamplingOptions::frequency_penalty}) {
    SamplingOptions huge = options;
    huge.*penalty = kMost;
    EXPECT_EQ(once(huge, {-3, -2, -9}, {0, 1, 1}), 2);
  }
  options.presence_penalty = kMost;
  options.frequency_penalty = kMost;
  EXPECT_EQ(once(options, {-3, -2, -9}, {0, 1, 1}), 2);
  options.presence_penalty = options.frequency_penalty = -kMost;
  EXPECT_EQ(once(options, {3, 2, 1}, {2}), 2);
}

TEST(Sampler, ForbiddingEverythingIsAnError) {
  for (float temperature : {0.0f, 1.0f}) {
    for (int top_k : {0, 1}) {
      SamplingOptions options = plain();
      options.temperature = temperature;
      options.top_k = top_k;
      options.biases = {{0, -kInfinity}, {1, -kInfinity}};
      try {
        once(options, {1, 2});
        FAIL();
      } catch (const Error& error) {
        EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT);
      }
    }
  }
}

TEST(Sampler, NonsenseFromTheDeviceIsAnError) {
  for (float nonsense : {std::nanf(""), kInfinity}) {
    for (const SamplingOptions& options : {plain(), greedy()}) {
      try {
        once(options, {1, 2, nonsense, 3});
        FAIL();
      } catch (const Error& error) {
        EXPECT_EQ(error.status(), RC_E_DEVICE);
        EXPECT_NE(error.message().find("token 2"), std::string::npos);
      }
    }
    EXPECT_THROW(Logprobs(std::vector<float>({1, nonsense})), Error);
  }
}

TEST(Sampler, PenaltiesLookAtTheLastTokensOnly) {
  SamplingOptions options = greedy();
  options.penalty_tokens = 2;
  options.repetition_penalty = 2.0f;
  // Token 1 has 5 / 2, token 0 is too long ago.
  EXPECT_EQ(once(options, {4, 5, 3}, {0, 1, 1}), 0);
  options.penalty_tokens = -1;
  EXPECT_EQ(once(options, {4, 5, 3}, {0, 1, 1}), 2);
  options.penalty_tokens = 0;
  EXPECT_EQ(once(options, {4, 5, 3}, {0, 1, 1}), 1);
}

TEST(Sampler, RepetitionPenaltyPushesNegativeLogitsDown) {
  SamplingOptions options = greedy();
  options.penalty_tokens = -1;
  options.repetition_penalty = 2.0f;
  EXPECT_EQ(once(options, {-1.0f, -1.5f}, {0}), 1);
}

TEST(Sampler, PresenceOnceFrequencyPerOccurrence) {
  SamplingOptions options = greedy();
  options.penalty_tokens = -1;
  options.presence_penalty = 1.0f;
  EXPECT_EQ(once(options, {5.0f, 4.5f, 3.5f}, {0, 0, 0, 1}), 0);
  options.presence_penalty = 0.0f;
  options.frequency_penalty = 0.4f;
  EXPECT_EQ(once(options, {5.0f, 4.5f, 3.5f}, {0, 0, 0, 1}), 1);
}

TEST(Sampler, OptionsOutOfRangeAreNamed) {
  const auto refused = [](auto change, const std::string& name) {
    SamplingOptions options;
    change(options);
    try {
      check(options, 10);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT);
      EXPECT_NE(error.message().find(name), std::string::npos)
          << error.message();
    }
  };
  const float nan = std::nanf("");
  using O = SamplingOptions;
  EXPECT_NO_THROW(check(SamplingOptions(), 10));
  refused([&](O& o) { o.temperature = nan; }, "temperature");
  refused([&](O& o) { o.temperature = -1; }, "temperature");
  refused([&](O& o) { o.temperature = kInfinity; }, "temperature");
  refused([&](O& o) { o.top_k = -1; }, "top_k");
  refused([&](O& o) { o.top_p = 3; }, "top_p");
  refused([&](O& o) { o.top_p = 0; }, "top_p");
  refused([&](O& o) { o.min_p = nan; }, "min_p");
  refused([&](O& o) { o.typical_p = 1.5f; }, "typical_p");
  refused([&](O& o) { o.top_n_sigma = -0.5f; }, "top_n_sigma");
  refused([&](O& o) { o.top_n_sigma = kInfinity; }, "top_n_sigma");
  refused([&](O& o) { o.penalty_tokens = -2; }, "penalty_tokens");
  refused([&](O& o) { o.repetition_penalty = 0; }, "repetition_penalty");
  refused([&](O& o) { o.presence_penalty = nan; }, "presence_penalty");
  refused([&](O& o) { o.frequency_penalty = kInfinity; }, "frequency_penalty");
  refused([&](O& o) { o.biases = {{10, 0}}; }, "logit_bias");
  refused([&](O& o) { o.biases = {{-1, 0}}; }, "logit_bias");
  refused([&](O& o) { o.biases = {{1, nan}}; }, "logit_bias");
  refused([&](O& o) { o.biases = {{1, kInfinity}}; }, "logit_bias");
}

TEST(Logprobs, AreThoseOfTheSoftmax) {
  const std::vector<float> logits = {1, 3, 2, 3};
  const double sum = std::exp(1) + 2 * std::exp(3) + std::exp(2);
  const Logprobs logprobs(logits);
  for (TokenId i = 0; i < 4; ++i) {
    EXPECT_EQ(logprobs.of(i).token, i);
    EXPECT_NEAR(logprobs.of(i).logprob,
                logits[static_cast<size_t>(i)] - std::log(sum), 1e-6);
  }
  std::vector<TokenLogprob> top;
  logprobs.append_top(3, &top);
  logprobs.append_top(0, &top);
  ASSERT_EQ(top.size(), 3u);
  EXPECT_EQ(top[0].token, 1);
  EXPECT_EQ(top[1].token, 3);
  EXPECT_EQ(top[2].token, 2);
  EXPECT_EQ(top[2].logprob, logprobs.of(2).logprob);
  logprobs.append_top(6, &top);
  ASSERT_EQ(top.size(), 9u);
  EXPECT_EQ(top[6].token, 0);
  EXPECT_EQ(top[7].token, -1);
  EXPECT_EQ(top[8].logprob, -kInfinity);
}

}  // namespace
}  // namespace rc::engine
