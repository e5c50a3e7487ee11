#include "engine/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "base/error.h"
#include "engine/logprobs.h"
#include "sampler_util.h"

namespace rc::engine {
namespace {

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

TEST(Sampler, SameSeedDrawsTheSameTokens) {
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
TEST(Sampler, DrawsTheRecordedTokensForASeed) {
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

TEST(Sampler, HugeLogitsDoNotOverflow) {
  SamplingOptions options = plain();
  options.biases = {{0, 3.4e38f}};
  options.temperature = 1e-30f;
  options.typical_p = 0.9f;
  EXPECT_EQ(once(options, {3.4e38f, 1, -3.4e38f}), 0);
}

// Every accepted combination of options gives a token: no intermediate result
// overflows to infinity or NaN.
TEST(Sampler, EveryCombinationOfExtremesGivesAToken) {
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

TEST(Sampler, NanAndInfiniteLogitsAreAnError) {
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

TEST(Sampler, PenaltiesCountTheLastTokensOnly) {
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

TEST(Sampler, PresencePenaltyAppliesOnceAndFrequencyPenaltyPerOccurrence) {
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

TEST(Logprobs, MatchTheSoftmax) {
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
