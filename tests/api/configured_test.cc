// What is configured, in the options of each call: it counts where an option
// has its initial value, and nowhere else.
#include "api/configured.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

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

// Flags and choices: each value that is not the initial one, and that a call's
// own value stays.
template <class Options, class Number, class Made>
void expect_choice(const char* variable, const char* text, Options initial,
                   Number Options::*member, Number value, Made made) {
  SCOPED_TRACE(std::string(variable) + "=" + text);
  const TemporaryVariable set(variable, text);
  config::Account::now();
  EXPECT_EQ(made(initial).*member, value);
  if (value == initial.*member) return;
  initial.*member = value;
  const TemporaryVariable other(variable, text);
  EXPECT_EQ(made(initial).*member, value);
}

TEST(Configured, ChoicesOfBackends) {
  const rc_backend_options initial = RC_BACKEND_OPTIONS_INIT;
  const auto made = [](const rc_backend_options& options) {
    return configured(options);
  };
  using Options = rc_backend_options;
  const auto expect = [&](const char* name, const char* text, auto member,
                          int32_t value) {
    expect_choice(name, text, initial, member, value, made);
  };
  expect("RUNCIBLE_BACKEND_STRICT", "true", &Options::strict, 1);
  expect("RUNCIBLE_BACKEND_STRICT", "false", &Options::strict, 0);
  expect("RUNCIBLE_BACKEND_PLACEMENT", "first", &Options::placement,
         RC_PLACEMENT_FIRST);
  expect("RUNCIBLE_BACKEND_PLACEMENT", "each_op", &Options::placement,
         RC_PLACEMENT_EACH_OP);
  expect("RUNCIBLE_BACKEND_PLACEMENT", "by_spec", &Options::placement,
         RC_PLACEMENT_BY_SPEC);
  expect("RUNCIBLE_BACKEND_MEASURE", "false", &Options::measure, 0);
}

TEST(Configured, ChoicesOfModels) {
  const rc_model_options initial = RC_MODEL_OPTIONS_INIT;
  std::string type;
  const auto made = [&](const rc_model_options& options) {
    return configured(options, type);
  };
  using Options = rc_model_options;
  const auto expect = [&](const char* name, const char* text, auto member,
                          auto value) {
    using Member = std::remove_reference_t<decltype(initial.*member)>;
    expect_choice(name, text, initial, member,
                  static_cast<std::remove_const_t<Member>>(value), made);
  };
  expect("RUNCIBLE_MODEL_CACHE_DTYPE", "f32", &Options::cache_dtype,
         RC_DTYPE_F32);
  expect("RUNCIBLE_MODEL_CACHE_DTYPE", "q8_0", &Options::cache_dtype,
         RC_DTYPE_Q8_0);
  expect("RUNCIBLE_MODEL_CACHE_DTYPE", "f16", &Options::cache_dtype,
         RC_DTYPE_F16);
  expect("RUNCIBLE_MODEL_OUTPUT", "logits", &Options::output, RC_OUTPUT_LOGITS);
  expect("RUNCIBLE_MODEL_OUTPUT", "hidden_rows", &Options::output,
         RC_OUTPUT_HIDDEN_ROWS);
  expect("RUNCIBLE_MODEL_OUTPUT", "scores", &Options::output, RC_OUTPUT_SCORES);
  expect("RUNCIBLE_MODEL_OUTPUT", "auto", &Options::output, RC_OUTPUT_AUTO);
  expect("RUNCIBLE_MODEL_PREFIX_CACHE", "false", &Options::prefix_cache, 0);
  expect("RUNCIBLE_MODEL_KEEP_MAPPED", "true", &Options::keep_mapped, 1);
  expect("RUNCIBLE_MODEL_EXPERTS_MAPPED", "true", &Options::experts_mapped, 1);
}

// Options of mapped weights are left out where weights are not mapped, and
// weights that are quantized do not.
TEST(Configured, MappedWeightsAreNotQuantized) {
  const TemporaryVariable guard("RUNCIBLE_MODEL_GUARD_MAPPED", "true");
  const TemporaryVariable experts("RUNCIBLE_MODEL_RESIDENT_EXPERTS", "3");
  std::string type;
  const auto made = [&](const rc_model_options& options) {
    config::Account::now();
    return configured(options, type);
  };
  const rc_model_options initial = RC_MODEL_OPTIONS_INIT;
  EXPECT_EQ(made(initial).guard_mapped, 0);
  EXPECT_EQ(made(initial).resident_experts, 0);
  rc_model_options options = initial;
  options.keep_mapped = 1;
  EXPECT_EQ(made(options).guard_mapped, 1);
  EXPECT_EQ(made(options).resident_experts, 0);
  options = initial;
  options.experts_mapped = 1;
  EXPECT_EQ(made(options).guard_mapped, 1);
  EXPECT_EQ(made(options).resident_experts, 3);
  const TemporaryVariable quantize("RUNCIBLE_MODEL_QUANTIZE", "q8_0");
  EXPECT_EQ(made(options).quantize, nullptr);
  const rc_model_options quantized = made(initial);
  ASSERT_NE(quantized.quantize, nullptr);
  EXPECT_EQ(std::string(quantized.quantize), type);
  const TemporaryVariable mapped("RUNCIBLE_MODEL_KEEP_MAPPED", "true");
  options = initial;
  options.quantize = "q8_0";
  EXPECT_EQ(made(options).keep_mapped, 0);
  options.quantize = "";
  EXPECT_EQ(made(options).keep_mapped, 1);
}

TEST(Configured, OptionsOfSessions) {
  const rc_session_options initial = RC_SESSION_OPTIONS_INIT;
  const auto made = [](const rc_session_options& options, int64_t most) {
    config::Account::now();
    return configured(options, most);
  };
  EXPECT_EQ(made(initial, 64).context_length, initial.context_length);
  EXPECT_EQ(made(initial, 64).when_full, initial.when_full);
  EXPECT_EQ(made(initial, 64).keep_tokens, initial.keep_tokens);
  {
    const TemporaryVariable full("RUNCIBLE_SESSION_WHEN_FULL", "shift");
    EXPECT_EQ(made(initial, 64).when_full, RC_FULL_SHIFT);
  }
  {
    const TemporaryVariable full("RUNCIBLE_SESSION_WHEN_FULL", "error");
    EXPECT_EQ(made(initial, 64).when_full, RC_FULL_ERROR);
    rc_session_options own = initial;
    own.when_full = RC_FULL_SHIFT;
    EXPECT_EQ(made(own, 64).when_full, RC_FULL_SHIFT);
  }
  const TemporaryVariable context("RUNCIBLE_SESSION_CONTEXT_LENGTH", "40");
  EXPECT_EQ(made(initial, 64).context_length, 40);
  EXPECT_EQ(made(initial, 39).context_length, 39);  // of a smaller model
  rc_session_options own = initial;
  own.context_length = 50;
  EXPECT_EQ(made(own, 64).context_length, 50);
  // A shift leaves room for two tokens.
  const TemporaryVariable keep("RUNCIBLE_SESSION_KEEP_TOKENS", "38");
  EXPECT_EQ(made(initial, 64).keep_tokens, 38);
  EXPECT_EQ(made(initial, 39).keep_tokens, 37);
  EXPECT_EQ(made(initial, 1).keep_tokens, 0);
  EXPECT_EQ(made(own, 64).keep_tokens, 38);
  own.context_length = 20;
  EXPECT_EQ(made(own, 64).keep_tokens, 18);
  own.keep_tokens = 5;
  EXPECT_EQ(made(own, 64).keep_tokens, 5);
}

}  // namespace
}  // namespace rc::api
