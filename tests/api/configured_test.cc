// What is configured, in the options of each call: it counts where an option
// has its initial value, and nowhere else.
#include "api/configured.h"

#include <gtest/gtest.h>

#include <string>

#include "base/cat.h"
#include "base/config/account.h"
#include "temporary.h"

namespace rc::api {
namespace {

using rc::test::TemporaryVariable;

// Expects of options that begin as `initial` and are made by `made` that the
// member is `value` where the variable says so, and else what the call says.
template <class Options, class Number, class Made>
void expect_member(const char* variable, Options initial,
                   Number Options::*member, Number value, Made made) {
  SCOPED_TRACE(variable);
  const auto now = [&](const Options& options) {
    config::Account::now();  // reads the variables
    return made(options);
  };
  Options own = initial;
  own.*member = static_cast<Number>(value + 1);
  EXPECT_EQ(now(initial).*member, initial.*member);
  const TemporaryVariable set(variable, cat(value));
  EXPECT_EQ(now(initial).*member, value);
  EXPECT_EQ(now(own).*member, value + 1);
}

TEST(Configured, OptionsOfBackends) {
  const rc_backend_options initial = RC_BACKEND_OPTIONS_INIT;
  const auto made = [](const rc_backend_options& options) {
    return configured(options);
  };
  using Options = rc_backend_options;
  const auto expect = [&](const char* name, auto member, auto value) {
    expect_member(name, initial, member, value, made);
  };
  expect("RUNCIBLE_BACKEND_REQUIRED_MEMORY", &Options::required_memory,
         uint64_t{7});
  expect("RUNCIBLE_BACKEND_MEMORY_LIMIT", &Options::memory_limit, uint64_t{7});
  expect("RUNCIBLE_THREADS", &Options::threads, int32_t{7});
  expect("RUNCIBLE_BACKEND_MAX_REQUESTS", &Options::max_requests, int32_t{7});
  expect("RUNCIBLE_BACKEND_TIMEOUT_MS", &Options::timeout_ms, int64_t{7});
}

TEST(Configured, OptionsOfModels) {
  const rc_model_options initial = RC_MODEL_OPTIONS_INIT;
  const auto made = [](const rc_model_options& options) {
    std::string type;
    return configured(options, type);
  };
  using Options = rc_model_options;
  const auto expect = [&](const char* name, auto member, auto value) {
    expect_member(name, initial, member, value, made);
  };
  expect("RUNCIBLE_MODEL_CONTEXT_LENGTH", &Options::context_length, int64_t{7});
  expect("RUNCIBLE_MODEL_CACHE_TOKENS", &Options::cache_tokens, int64_t{7});
  expect("RUNCIBLE_MODEL_MAX_ROWS", &Options::max_rows, int32_t{7});
}

TEST(Configured, OptionsOfGenerations) {
  const rc_generate_options initial = RC_GENERATE_OPTIONS_INIT;
  const auto made = [](const rc_generate_options& options) {
    std::string breakers;
    return configured(options, breakers);
  };
  using Options = rc_generate_options;
#define RC_EXPECT(VARIABLE, MEMBER, VALUE)                                \
  expect_member("RUNCIBLE_GENERATE_" VARIABLE, initial, &Options::MEMBER, \
                static_cast<decltype(initial.MEMBER + 0)>(VALUE), made)
  RC_EXPECT("MAX_TOKENS", max_tokens, 7);
  RC_EXPECT("DEADLINE_MS", deadline_ms, 7);
  RC_EXPECT("PRIORITY", priority, 7);
  RC_EXPECT("SEED", seed, 7);
  RC_EXPECT("TEMPERATURE", temperature, 0.5);
  RC_EXPECT("TOP_K", top_k, 7);
  RC_EXPECT("TOP_P", top_p, 0.5);
  RC_EXPECT("MIN_P", min_p, 0.5);
  RC_EXPECT("TYPICAL_P", typical_p, 0.5);
  RC_EXPECT("TOP_N_SIGMA", top_n_sigma, 0.5);
  RC_EXPECT("PENALTY_TOKENS", penalty_tokens, 7);
  RC_EXPECT("REPETITION_PENALTY", repetition_penalty, 1.5);
  RC_EXPECT("PRESENCE_PENALTY", presence_penalty, 0.5);
  RC_EXPECT("FREQUENCY_PENALTY", frequency_penalty, 0.5);
  RC_EXPECT("DRY_MULTIPLIER", dry_multiplier, 0.5);
  RC_EXPECT("DRY_BASE", dry_base, 2.5);
  RC_EXPECT("DRY_ALLOWED_LENGTH", dry_allowed_length, 7);
  RC_EXPECT("DRY_TOKENS", dry_tokens, 7);
  RC_EXPECT("XTC_PROBABILITY", xtc_probability, 0.5);
  RC_EXPECT("XTC_THRESHOLD", xtc_threshold, 0.5);
  RC_EXPECT("DYNAMIC_TEMPERATURE_RANGE", dynamic_temperature_range, 0.5);
  RC_EXPECT("DYNAMIC_TEMPERATURE_EXPONENT", dynamic_temperature_exponent, 2.5);
  RC_EXPECT("MIROSTAT", mirostat, 1);
  RC_EXPECT("MIROSTAT_TAU", mirostat_tau, 0.5);
  RC_EXPECT("MIROSTAT_ETA", mirostat_eta, 0.5);
  RC_EXPECT("MIROSTAT_M", mirostat_m, 7);
#undef RC_EXPECT
}

TEST(Configured, BreakersOfDry) {
  const TemporaryVariable set("RUNCIBLE_GENERATE_DRY_BREAKERS", "[\".\"]");
  config::Account::now();
  std::string memory;
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options = configured(options, memory);
  ASSERT_NE(options.dry_breakers, nullptr);
  EXPECT_STREQ(options.dry_breakers, "[\".\"]");
  const char* own = "[\"!\"]";
  options.dry_breakers = own;
  EXPECT_EQ(configured(options, memory).dry_breakers, own);
}

}  // namespace
}  // namespace rc::api
