// DRY, XTC, dynamic temperature and mirostat against numbers of numpy; see
// tests/golden/samplers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "engine/dry.h"
#include "engine/mirostat.h"
#include "labels.h"
#include "sampler_util.h"
#include "test_data.h"
#include "text/tokenizer.h"

namespace rc::engine {
namespace {

using Json = nlohmann::json;

const Json& cases(const char* kind) {
  static const Json kAll = [] {
    std::ifstream file(
        rc::test::source_path("tests/golden/samplers/cases.json"));
    return Json::parse(file);
  }();
  return kAll.at(kind);
}

// Tokens of letters, of which some are followed by a line break.
std::shared_ptr<const text::Tokenizer> tokenizer_with_breakers(
    size_t size, const std::set<TokenId>& breakers) {
  text::Vocabulary v;
  v.source = "test.gguf";
  v.model = "gpt2";
  v.pre = "gpt-2";
  for (size_t i = 0; i < size; ++i) {
    std::string token(1, static_cast<char>('a' + i));
    // A line break, as byte-level vocabularies write it.
    if (breakers.contains(static_cast<TokenId>(i))) token += "\xC4\x8A";
    v.tokens.push_back(token);
  }
  v.tokens.emplace_back("ab");  // for the only merge
  v.merges = {"a b"};
  v.types.assign(v.tokens.size(), text::TokenType::kNormal);
  return text::Tokenizer::create(std::move(v));
}

TEST(SamplerGolden, DryPenalizesRepetitions) {
  for (const Json& c : cases("dry")) {
    SamplingOptions options = plain();
    options.dry_multiplier = c["multiplier"];
    options.dry_base = c["base"];
    options.dry_allowed_length = c["allowed_length"];
    options.dry_tokens = c["tokens"];
    const auto history = c["history"].get<std::vector<TokenId>>();
    std::vector<float> logits(c["vocabulary"].get<size_t>(), 1.0f);
    Dry dry(options,
            tokenizer_with_breakers(logits.size(),
                                    c["breakers"].get<std::set<TokenId>>()));
    // State of one text must not affect the next.
    dry.penalize(std::vector<TokenId>{0, 1, 0, 1, 0, 1}, logits);
    logits.assign(logits.size(), 1.0f);
    dry.penalize(history, logits);
    std::vector<double> expected(logits.size(), 1.0);
    for (const Json& penalty : c["penalties"]) {
      expected[penalty[0].get<size_t>()] -= penalty[1].get<double>();
    }
    for (size_t i = 0; i < logits.size(); ++i) {
      ASSERT_NEAR(logits[i], expected[i], 1e-5 * std::abs(expected[i]) + 1e-5)
          << c << " token " << i;
    }
  }
}

TEST(SamplerGolden, XtcRemovesTheMostProbable) {
  for (const Json& c : cases("xtc")) {
    SamplingOptions options = plain(5);
    options.xtc_probability = 1.0f;
    options.xtc_threshold = c["threshold"];
    std::set<TokenId> seen;
    for (const auto& [token, share] :
         shares(options, c["logits"].get<std::vector<float>>(), 1000)) {
      seen.insert(token);
    }
    const auto left = c["left"].get<std::set<TokenId>>();
    EXPECT_TRUE(
        std::includes(left.begin(), left.end(), seen.begin(), seen.end()))
        << c;
    EXPECT_FALSE(seen.empty());
  }
}

TEST(SamplerGolden, DynamicTemperatureFollowsTheEntropy) {
  for (const Json& c : cases("dynamic_temperature")) {
    SamplingOptions options = plain(9);
    options.temperature = c["temperature"];
    options.dynamic_temperature_range = c["range"];
    options.dynamic_temperature_exponent = c["exponent"];
    const auto drawn =
        shares(options, c["logits"].get<std::vector<float>>(), 12000);
    const auto expected = c["probabilities"].get<std::vector<double>>();
    for (size_t i = 0; i < expected.size(); ++i) {
      const auto found = drawn.find(static_cast<TokenId>(i));
      EXPECT_NEAR(found == drawn.end() ? 0.0 : found->second, expected[i], 0.02)
          << c;
    }
  }
}

TEST(SamplerGolden, MirostatFollowsZipfsLaw) {
  for (const Json& c : cases("mirostat")) {
    SamplingOptions options = plain();
    options.mirostat = 1;
    options.mirostat_tau = c["tau"];
    const Mirostat mirostat(options);
    const auto logits = c["logits"].get<std::vector<double>>();
    const auto count = static_cast<double>(mirostat.count(
        std::span(logits).first(std::min(logits.size(), mirostat.looked_at())),
        logits.size()));
    // Within one of what rounding may decide otherwise.
    EXPECT_NEAR(count, c["count"].get<double>(), 1.0) << c["exact"];
  }
}

// Algorithm 1 of the paper, by hand: of the logits 3, 2, 1.5 the exponent of
// Zipf's law is 1.3893, by which 10.645 of 1000 tokens have six bits of
// surprise. Each quotient of neighbours matters.
TEST(SamplerGolden, MirostatFitsEveryQuotient) {
  SamplingOptions options = plain();
  options.mirostat = 1;
  options.mirostat_tau = 3;
  const Mirostat mirostat(options);
  EXPECT_EQ(mirostat.count(std::vector<double>{3, 2, 1.5}, 1000), 11u);
  EXPECT_EQ(mirostat.count(std::vector<double>{3, 2}, 1000), 10u);
  EXPECT_EQ(mirostat.count(std::vector<double>{2, 1.9, 0.5}, 1000), 9u);
  EXPECT_EQ(mirostat.count(std::vector<double>{2}, 1000), 1u);
}

// Surprise of a token of a softmax, in bits.
double surprise(const std::vector<float>& logits, TokenId token) {
  double sum = 0.0;
  for (const float logit : logits) sum += std::exp(double{logit});
  return (std::log(sum) - logits[static_cast<size_t>(token)]) / std::log(2.0);
}

TEST(Sampler, MirostatKeepsTheSurpriseConstant) {
  RC_TEST_LABELS(kSerial);
  const std::vector<float> logits = random_logits(4000, 3);
  for (const int version : {1, 2}) {
    for (const float tau : {2.0f, 4.0f}) {
      SamplingOptions options = plain(17);
      options.mirostat = version;
      options.mirostat_tau = tau;
      options.top_k = 1;  // has no say
      Sampler sampler(options, logits.size());
      double sum = 0.0;
      constexpr int kDraws = 700;
      for (int i = 0; i < 2 * kDraws; ++i) {
        const double bits = surprise(logits, sampler.choose(logits, {}));
        if (i >= kDraws) sum += bits;
      }
      // Probabilities of 4000 tokens allow no less than some bits.
      double least = 1e9;
      for (TokenId token = 0; token < 4000; ++token) {
        least = std::min(least, surprise(logits, token));
      }
      EXPECT_NEAR(sum / kDraws, std::max<double>(tau, least), 0.35)
          << version << " " << tau;
    }
  }
}

TEST(Sampler, XtcActsWithItsProbability) {
  const std::vector<float> logits = {2.0f, 1.9f, 0.0f};
  SamplingOptions options = plain(4);
  options.xtc_threshold = 0.2f;
  options.xtc_probability = 0.25f;
  const double without = shares(plain(4), logits, 20000).at(0);
  const double with = shares(options, logits, 20000).at(0);
  EXPECT_NEAR(with, 0.75 * without, 0.01);
}

TEST(Sampler, DryStopsALoop) {
  SamplingOptions options = greedy();
  options.dry_multiplier = 0.8f;
  const std::vector<float> logits = {1.0f, 1.1f, 0.9f};
  // 0 1 0 1 0 -> 1 would go on with three tokens.
  EXPECT_EQ(once(options, logits, {0, 1, 0, 1, 0}), 0);
  EXPECT_EQ(once(options, logits, {0, 2, 1, 0}), 1);
  // However long a repetition is, its penalty is a number.
  std::vector<TokenId> long_history(20000, 1);
  EXPECT_NE(once(options, logits, long_history), 1);
  options.dry_base = 3e38f;
  options.dry_multiplier = 3e38f;
  EXPECT_NE(once(options, logits, long_history), 1);
}

TEST(Sampler, OptionsOfTheNewStagesAreChecked) {
  const auto refused = [](auto set, const char* name) {
    SamplingOptions options = plain();
    set(options);
    try {
      check(options, 10);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT);
      EXPECT_NE(error.message().find(name), std::string::npos)
          << error.message();
    }
  };
  const float kNan = std::nanf("");
  refused([](auto& o) { o.dry_multiplier = -1; }, "dry_multiplier");
  refused([](auto& o) { o.dry_base = 0.5f; }, "dry_base");
  refused([](auto& o) { o.dry_allowed_length = 0; }, "dry_allowed_length");
  refused([](auto& o) { o.dry_tokens = -2; }, "dry_tokens");
  refused([](auto& o) { o.xtc_probability = 1.5f; }, "xtc_probability");
  refused([=](auto& o) { o.xtc_threshold = kNan; }, "xtc_threshold");
  refused([](auto& o) { o.dynamic_temperature_range = -0.1f; },
          "dynamic_temperature_range");
  refused([](auto& o) { o.dynamic_temperature_exponent = 0; },
          "dynamic_temperature_exponent");
  refused([](auto& o) { o.mirostat = 3; }, "mirostat is 3");
  refused([](auto& o) { o.mirostat_tau = 0; }, "mirostat_tau");
  refused([](auto& o) { o.mirostat_eta = 2; }, "mirostat_eta");
  refused([](auto& o) { o.mirostat_m = 1; }, "mirostat_m");
}

}  // namespace
}  // namespace rc::engine
