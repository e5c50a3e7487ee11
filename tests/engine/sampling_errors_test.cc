// The limits of every sampling option: the nearest values beyond them are
// refused by name, those at them are taken. The limits are those of generate.h.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "engine/sampling_options.h"
#include "expect_error.h"

namespace rc::engine {
namespace {

constexpr int64_t kVocabulary = 272;
constexpr float kMost = std::numeric_limits<float>::max();
constexpr float kLeast = std::numeric_limits<float>::denorm_min();
constexpr float kInfinite = std::numeric_limits<float>::infinity();

void expect_refused(const SamplingOptions& options, const std::string& begin,
                    const std::string& end) {
  rc::test::expect_error(RC_E_INVALID_ARGUMENT, begin, end,
                         [&] { check(options, kVocabulary); });
}

TEST(SamplingErrors, NumbersOutOfRangeAreRefused) {
  enum class Low { kAtLeast, kGreater };
  const struct {
    const char* name;
    float SamplingOptions::*member;
    Low low;
    float least;
    float most;
    const char* limit;
  } cases[] = {
      {"temperature", &SamplingOptions::temperature, Low::kAtLeast, 0, kMost,
       "at least 0 and finite"},
      {"top_p", &SamplingOptions::top_p, Low::kGreater, 0, 1,
       "greater than 0 and at most 1"},
      {"min_p", &SamplingOptions::min_p, Low::kAtLeast, 0, 1,
       "at least 0 and at most 1"},
      {"typical_p", &SamplingOptions::typical_p, Low::kGreater, 0, 1,
       "greater than 0 and at most 1"},
      {"top_n_sigma", &SamplingOptions::top_n_sigma, Low::kAtLeast, 0, kMost,
       "at least 0 and finite"},
      {"repetition_penalty", &SamplingOptions::repetition_penalty,
       Low::kGreater, 0, kMost, "greater than 0 and finite"},
      {"presence_penalty", &SamplingOptions::presence_penalty, Low::kAtLeast,
       -kMost, kMost, "finite"},
      {"frequency_penalty", &SamplingOptions::frequency_penalty, Low::kAtLeast,
       -kMost, kMost, "finite"},
      {"dry_multiplier", &SamplingOptions::dry_multiplier, Low::kAtLeast, 0,
       kMost, "at least 0 and finite"},
      {"dry_base", &SamplingOptions::dry_base, Low::kAtLeast, 1, kMost,
       "at least 1 and finite"},
      {"xtc_probability", &SamplingOptions::xtc_probability, Low::kAtLeast, 0,
       1, "at least 0 and at most 1"},
      {"xtc_threshold", &SamplingOptions::xtc_threshold, Low::kAtLeast, 0, 1,
       "at least 0 and at most 1"},
      {"dynamic_temperature_range", &SamplingOptions::dynamic_temperature_range,
       Low::kAtLeast, 0, kMost, "at least 0 and finite"},
      {"dynamic_temperature_exponent",
       &SamplingOptions::dynamic_temperature_exponent, Low::kGreater, 0, kMost,
       "greater than 0 and finite"},
      {"mirostat_tau", &SamplingOptions::mirostat_tau, Low::kGreater, 0, kMost,
       "greater than 0 and finite"},
      {"mirostat_eta", &SamplingOptions::mirostat_eta, Low::kAtLeast, 0, 1,
       "at least 0 and at most 1"},
  };
  for (const auto& c : cases) {
    const bool greater = c.low == Low::kGreater;
    SamplingOptions options;
    for (const float value :
         {greater ? c.least : std::nextafter(c.least, -kInfinite),
          std::nextafter(c.most, kInfinite), -kInfinite, kInfinite,
          std::nanf("")}) {
      options.*c.member = value;
      expect_refused(options, std::string(c.name) + " is ",
                     std::string("; it must be ") + c.limit);
    }
    for (const float value : {greater ? kLeast : c.least, c.most}) {
      options.*c.member = value;
      EXPECT_NO_THROW(check(options, kVocabulary)) << c.name << " " << value;
    }
  }
}

TEST(SamplingErrors, CountsOutOfRangeAreRefused) {
  constexpr int32_t kLargestCount = std::numeric_limits<int32_t>::max();
  const struct {
    const char* name;
    int32_t SamplingOptions::*member;
    int32_t least;
    int32_t most;
    const char* limit;
  } cases[] = {
      {"top_k", &SamplingOptions::top_k, 0, kLargestCount,
       "at least 0, which means off"},
      {"penalty_tokens", &SamplingOptions::penalty_tokens, -1, kLargestCount,
       "a number of tokens, 0 for none or -1 for all"},
      {"dry_allowed_length", &SamplingOptions::dry_allowed_length, 1,
       kLargestCount, "at least 1"},
      {"dry_tokens", &SamplingOptions::dry_tokens, -1, kLargestCount,
       "at least -1"},
      {"mirostat", &SamplingOptions::mirostat, 0, 2,
       "version 1 or 2, or 0, which means off"},
      {"mirostat_m", &SamplingOptions::mirostat_m, 2, kLargestCount,
       "at least 2"},
  };
  for (const auto& c : cases) {
    SamplingOptions options;
    std::vector<int32_t> refused = {std::numeric_limits<int32_t>::min(),
                                    c.least - 1};
    if (c.most < kLargestCount) refused.push_back(c.most + 1);
    for (const int32_t value : refused) {
      options.*c.member = value;
      const std::string message = std::string(c.name) + " is " +
                                  std::to_string(value) + "; it must be " +
                                  c.limit;
      expect_refused(options, message, message);
    }
    for (const int32_t value : {c.least, c.most}) {
      options.*c.member = value;
      EXPECT_NO_THROW(check(options, kVocabulary)) << c.name << " " << value;
    }
  }
}

TEST(SamplingErrors, InvalidBiasesAreRefused) {
  SamplingOptions options;
  for (const TokenId token : {-1, 272}) {
    options.biases = {{0, 1.0f}, {token, 1.0f}};
    const std::string message = "logit_bias_tokens[1] is " +
                                std::to_string(token) +
                                "; the vocabulary has 272 tokens";
    expect_refused(options, message, message);
  }
  for (const float bias : {kInfinite, std::nanf("")}) {
    options.biases = {{0, 1.0f}, {271, bias}};
    expect_refused(options, "logit_bias[1] is ",
                   "; it must be finite or -infinity");
  }
  options.biases = {{0, -kInfinite}, {271, kMost}};
  EXPECT_NO_THROW(check(options, kVocabulary));
}

}  // namespace
}  // namespace rc::engine
