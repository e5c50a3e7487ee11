// Options of calls: a member that is set holds, whatever it is set to; one that
// is unset takes the configured value, else its default.
#include "api/configured.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <type_traits>

#include "base/cat.h"
#include "base/config/defaults.h"
#include "base/config/settings.h"
#include "expect_error.h"
#include "temporary.h"

namespace rc::api {
namespace {

using rc::test::error_of;
using rc::test::TemporaryVariable;

constexpr int64_t kContext = 64;  // of the model of the sessions

// The memory of texts.
std::string g_text;

rc_backend_options made(const rc_backend_options* options) {
  config::Settings::now();  // reads the variables
  return configured(options);
}
rc_model_options made(const rc_model_options* options) {
  config::Settings::now();
  bool is_cache_dtype_open = false;
  return configured(options, g_text, is_cache_dtype_open);
}
rc_session_options made(const rc_session_options* options) {
  config::Settings::now();
  return configured(options, kContext);
}
rc_generate_options made(const rc_generate_options* options) {
  config::Settings::now();
  return configured(options, g_text);
}

template <class Options>
struct Struct;
template <>
struct Struct<rc_backend_options> {
  static constexpr rc_backend_options kUnset = RC_BACKEND_OPTIONS_INIT;
};
template <>
struct Struct<rc_model_options> {
  static constexpr rc_model_options kUnset = RC_MODEL_OPTIONS_INIT;
};
template <>
struct Struct<rc_session_options> {
  static constexpr rc_session_options kUnset = RC_SESSION_OPTIONS_INIT;
};
template <>
struct Struct<rc_generate_options> {
  static constexpr rc_generate_options kUnset = RC_GENERATE_OPTIONS_INIT;
};

// Checks members one by one, and notes which.
class Members {
 public:
  // `text` configures `configured`; `other` is a third value. `prepare` sets
  // what the member needs to be looked at.
  template <class Options, class T>
  void expect(const char* name, T Options::*member,
              std::type_identity_t<T> initial, const char* text,
              std::type_identity_t<T> configured, std::type_identity_t<T> other,
              std::type_identity_t<void (*)(Options&)> prepare = nullptr) {
    SCOPED_TRACE(name);
    EXPECT_TRUE(names_.insert(name).second);
    const config::Key* key = config::find_key(name);
    ASSERT_NE(key, nullptr);
    ASSERT_NE(initial, configured);
    ASSERT_NE(initial, other);
    Options unset = Struct<Options>::kUnset;
    if (prepare != nullptr) prepare(unset);
    const auto of = [&](T value) {
      Options options = unset;
      options.*member = value;
      return options;
    };
    const auto value = [&](const Options& options) {
      return made(&options).*member;
    };
    // Nothing is configured.
    EXPECT_EQ(value(unset), initial);
    EXPECT_EQ(value(of(initial)), initial);
    EXPECT_EQ(value(of(other)), other);
    if (key->initial != nullptr) {
      const TemporaryVariable set(key->variable, key->initial);
      EXPECT_EQ(value(unset), initial) << "is not the setting's";
    }
    const TemporaryVariable set(key->variable, text);
    EXPECT_EQ(value(unset), configured);
    EXPECT_EQ(value(of(initial)), initial) << "a value that is set holds";
    EXPECT_EQ(value(of(other)), other) << "a value that is set holds";
    EXPECT_EQ(value(of(configured)), configured);
    if (prepare == nullptr) {
      EXPECT_EQ(made(static_cast<const Options*>(nullptr)).*member, configured);
    }
    Options ignoring = unset;
    ignoring.ignore_configuration = 1;
    EXPECT_EQ(value(ignoring), initial) << "configuration is ignored";
    // A caller with a header from before RC_UNSET_INT32, if that has the
    // member.
    const auto offset = reinterpret_cast<const char*>(&(unset.*member)) -
                        reinterpret_cast<const char*>(&unset);
    if (offset >
        static_cast<ptrdiff_t>(offsetof(Options, ignore_configuration))) {
      return;
    }
    const auto before = [&](Options options) {
      options.struct_size = offsetof(Options, ignore_configuration);
      options.ignore_configuration = 77;  // not part of it
      return value(options);
    };
    EXPECT_EQ(before(of(initial)), configured);
    EXPECT_EQ(before(of(other)), other);
    Options old;
    initialise_options(&old, offsetof(Options, ignore_configuration));
    EXPECT_EQ(old.*member, initial) << "as its header says";
  }

  // The same for texts, which are NULL if unset.
  template <class Options>
  void expect_text(const char* name, const char* Options::*member,
                   const char* text, const char* other) {
    SCOPED_TRACE(name);
    EXPECT_TRUE(names_.insert(name).second);
    const char* variable = config::find_key(name)->variable;
    Options options = Struct<Options>::kUnset;
    EXPECT_EQ(made(&options).*member, nullptr);
    const TemporaryVariable set(variable, text);
    EXPECT_STREQ(made(&options).*member, text);
    EXPECT_EQ(made(&options).*member, g_text.c_str());
    options.ignore_configuration = 1;
    EXPECT_EQ(made(&options).*member, nullptr);
    options.ignore_configuration = 0;
    for (const char* own : {other, ""}) {
      options.*member = own;
      EXPECT_EQ(made(&options).*member, own);
    }
  }

  const std::set<std::string>& names() const { return names_; }

 private:
  std::set<std::string> names_;
};

void expect_backends(Members& members) {
  using Options = rc_backend_options;
#define RC_EXPECT(MEMBER, ...) \
  members.expect("backend." #MEMBER, &Options::MEMBER, __VA_ARGS__)
  RC_EXPECT(required_memory, 0, "7", 7, 8);
  RC_EXPECT(memory_limit, 0, "7", 7, 8);
  RC_EXPECT(threads, 0, "7", 7, 8);
  RC_EXPECT(max_requests, 0, "7", 7, 8);
  RC_EXPECT(timeout_ms, 0, "7", 7, 8);
  RC_EXPECT(strict, 0, "true", 1, 1);
  RC_EXPECT(profile, 0, "true", 1, 1);
  RC_EXPECT(placement, RC_PLACEMENT_BY_SPEC, "first", RC_PLACEMENT_FIRST,
            RC_PLACEMENT_EACH_OP);
  RC_EXPECT(measure, 1, "false", 0, 0);
  RC_EXPECT(numa, RC_NUMA_AUTO, "local", RC_NUMA_LOCAL, RC_NUMA_OFF);
}

void expect_models(Members& members) {
  using Options = rc_model_options;
#undef RC_EXPECT
#define RC_EXPECT(MEMBER, ...) \
  members.expect("model." #MEMBER, &Options::MEMBER, __VA_ARGS__)
  RC_EXPECT(context_length, 0, "7", 7, 8);
  RC_EXPECT(cache_tokens, 0, "7", 7, 8);
  RC_EXPECT(cache_dtype, RC_DTYPE_F16, "q8_0", RC_DTYPE_Q8_0, RC_DTYPE_F32);
  RC_EXPECT(max_rows, 0, "7", 7, 8);
  RC_EXPECT(prefix_cache, 1, "false", 0, 0);
  RC_EXPECT(keep_mapped, 0, "true", 1, 1);
  RC_EXPECT(guard_mapped, 0, "true", 1, 1,
            [](Options& options) { options.keep_mapped = 1; });
  RC_EXPECT(output, RC_OUTPUT_AUTO, "scores", RC_OUTPUT_SCORES,
            RC_OUTPUT_LOGITS);
  RC_EXPECT(experts_mapped, 0, "true", 1, 1);
  RC_EXPECT(resident_experts, 0, "7", 7, 8,
            [](Options& options) { options.experts_mapped = 1; });
  RC_EXPECT(fit, 0, "true", 1, 1);
  members.expect_text("model.quantize", &Options::quantize, "q8_0", "q4_0");
}

void expect_sessions(Members& members) {
  using Options = rc_session_options;
#undef RC_EXPECT
#define RC_EXPECT(MEMBER, ...) \
  members.expect("session." #MEMBER, &Options::MEMBER, __VA_ARGS__)
  RC_EXPECT(context_length, 0, "40", 40, 50);
  RC_EXPECT(when_full, RC_FULL_ERROR, "shift", RC_FULL_SHIFT, RC_FULL_SHIFT);
  RC_EXPECT(keep_tokens, 0, "7", 7, 8);
}

void expect_generations(Members& members) {
  using Options = rc_generate_options;
#undef RC_EXPECT
#define RC_EXPECT(MEMBER, ...) \
  members.expect("generate." #MEMBER, &Options::MEMBER, __VA_ARGS__)
  RC_EXPECT(max_tokens, -1, "7", 7, 8);
  RC_EXPECT(deadline_ms, 0, "7", 7, 8);
  RC_EXPECT(priority, 0, "7", 7, 8);
  RC_EXPECT(seed, RC_SEED_RANDOM, "7", 7, 8);
  RC_EXPECT(temperature, 0.8f, "0.5", 0.5f, 0);
  RC_EXPECT(top_k, 40, "7", 7, 0);
  RC_EXPECT(top_p, 0.95f, "0.5", 0.5f, 1);
  RC_EXPECT(min_p, 0.05f, "0.5", 0.5f, 0);
  RC_EXPECT(typical_p, 1, "0.5", 0.5f, 0.25f);
  RC_EXPECT(top_n_sigma, 0, "0.5", 0.5f, 1);
  RC_EXPECT(penalty_tokens, 64, "7", 7, -1);
  RC_EXPECT(repetition_penalty, 1, "1.5", 1.5f, 2);
  RC_EXPECT(presence_penalty, 0, "0.5", 0.5f, -1);
  RC_EXPECT(frequency_penalty, 0, "0.5", 0.5f, -1);
  RC_EXPECT(dry_multiplier, 0, "0.5", 0.5f, 1);
  RC_EXPECT(dry_base, 1.75f, "2.5", 2.5f, 1);
  RC_EXPECT(dry_allowed_length, 2, "7", 7, 1);
  RC_EXPECT(dry_tokens, -1, "7", 7, 0);
  RC_EXPECT(xtc_probability, 0, "0.5", 0.5f, 1);
  RC_EXPECT(xtc_threshold, 0.1f, "0.5", 0.5f, 0);
  RC_EXPECT(dynamic_temperature_range, 0, "0.5", 0.5f, 1);
  RC_EXPECT(dynamic_temperature_exponent, 1, "2.5", 2.5f, 2);
  RC_EXPECT(mirostat, 0, "1", 1, 2);
  RC_EXPECT(mirostat_tau, 5, "0.5", 0.5f, 1);
  RC_EXPECT(mirostat_eta, 0.1f, "0.5", 0.5f, 0);
  RC_EXPECT(mirostat_m, 100, "7", 7, 8);
#undef RC_EXPECT
  members.expect_text("generate.dry_breakers", &Options::dry_breakers, ".",
                      "!");
}

TEST(Configured, ConfigurationFillsUnsetMembersOnly) {
  Members members;
  expect_backends(members);
  expect_models(members);
  expect_sessions(members);
  expect_generations(members);
  // No setting of options is left out.
  for (const config::Key& key : config::keys()) {
    const std::string name = key.name;
    if (name == "backend.spec" || name.starts_with("library.")) continue;
    EXPECT_TRUE(members.names().contains(name)) << name;
  }
}

// Each choice by its name.
template <class Options>
void expect_choice(const char* variable, const char* text,
                   int32_t Options::*member, int32_t value) {
  SCOPED_TRACE(std::string(variable) + "=" + text);
  const TemporaryVariable set(variable, text);
  EXPECT_EQ(made(&Struct<Options>::kUnset).*member, value);
}

TEST(Configured, ChoicesAreReadByName) {
  using Backend = rc_backend_options;
  expect_choice("RUNCIBLE_BACKEND_PLACEMENT", "first", &Backend::placement,
                RC_PLACEMENT_FIRST);
  expect_choice("RUNCIBLE_BACKEND_PLACEMENT", "each_op", &Backend::placement,
                RC_PLACEMENT_EACH_OP);
  expect_choice("RUNCIBLE_BACKEND_PLACEMENT", "by_spec", &Backend::placement,
                RC_PLACEMENT_BY_SPEC);
  expect_choice("RUNCIBLE_BACKEND_NUMA", "auto", &Backend::numa, RC_NUMA_AUTO);
  expect_choice("RUNCIBLE_BACKEND_NUMA", "off", &Backend::numa, RC_NUMA_OFF);
  expect_choice("RUNCIBLE_BACKEND_NUMA", "interleave", &Backend::numa,
                RC_NUMA_INTERLEAVE);
  expect_choice("RUNCIBLE_BACKEND_NUMA", "local", &Backend::numa,
                RC_NUMA_LOCAL);
  using Model = rc_model_options;
  expect_choice("RUNCIBLE_MODEL_CACHE_DTYPE", "f32", &Model::cache_dtype,
                RC_DTYPE_F32);
  expect_choice("RUNCIBLE_MODEL_CACHE_DTYPE", "q8_0", &Model::cache_dtype,
                RC_DTYPE_Q8_0);
  expect_choice("RUNCIBLE_MODEL_CACHE_DTYPE", "f16", &Model::cache_dtype,
                RC_DTYPE_F16);
  expect_choice("RUNCIBLE_MODEL_OUTPUT", "logits", &Model::output,
                RC_OUTPUT_LOGITS);
  expect_choice("RUNCIBLE_MODEL_OUTPUT", "hidden_rows", &Model::output,
                RC_OUTPUT_HIDDEN_ROWS);
  expect_choice("RUNCIBLE_MODEL_OUTPUT", "scores", &Model::output,
                RC_OUTPUT_SCORES);
  expect_choice("RUNCIBLE_MODEL_OUTPUT", "auto", &Model::output,
                RC_OUTPUT_AUTO);
  using Session = rc_session_options;
  expect_choice("RUNCIBLE_SESSION_WHEN_FULL", "error", &Session::when_full,
                RC_FULL_ERROR);
  expect_choice("RUNCIBLE_SESSION_WHEN_FULL", "shift", &Session::when_full,
                RC_FULL_SHIFT);
}

TEST(Configured, AWrongVariableFailsUnsetMembersOnly) {
  const TemporaryVariable wrong("RUNCIBLE_BACKEND_NUMA", "distribute");
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  const Error error = error_of([&] { made(&options); });
  EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT);
  for (const char* text : {"RUNCIBLE_BACKEND_NUMA", "distribute",
                           "auto, off, interleave, local"}) {
    EXPECT_NE(error.message().find(text), std::string::npos) << error.message();
  }
  options.numa = RC_NUMA_AUTO;
  EXPECT_EQ(made(&options).numa, RC_NUMA_AUTO);
}

TEST(Configured, IgnoreConfigurationIsZeroOrOne) {
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.ignore_configuration = 2;
  const Error error = error_of([&] { made(&options); });
  EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(error.message(),
            "options->ignore_configuration: 2 is neither 0 nor 1");
}

TEST(Configured, TypeOfTheCacheIsOpenWhereItIsNotSet) {
  const auto is_open = [](const rc_model_options* options) {
    config::Settings::now();
    bool open = false;
    configured(options, g_text, open);
    return open;
  };
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  EXPECT_TRUE(is_open(nullptr));
  EXPECT_TRUE(is_open(&options));
  options.cache_dtype = RC_DTYPE_F16;
  EXPECT_FALSE(is_open(&options));
  options = RC_MODEL_OPTIONS_INIT;
  const TemporaryVariable type("RUNCIBLE_MODEL_CACHE_DTYPE", "f16");
  EXPECT_FALSE(is_open(&options));
  options.ignore_configuration = 1;
  EXPECT_TRUE(is_open(&options));
}

// Configured options of mapped weights are left out where weights are not
// mapped, and weights that are quantized are not.
TEST(Configured, MappedWeightsAreNotQuantized) {
  const TemporaryVariable guard("RUNCIBLE_MODEL_GUARD_MAPPED", "true");
  const TemporaryVariable experts("RUNCIBLE_MODEL_RESIDENT_EXPERTS", "3");
  const rc_model_options initial = RC_MODEL_OPTIONS_INIT;
  EXPECT_EQ(made(&initial).guard_mapped, 0);
  EXPECT_EQ(made(&initial).resident_experts, 0);
  rc_model_options options = initial;
  options.keep_mapped = 1;
  EXPECT_EQ(made(&options).guard_mapped, 1);
  EXPECT_EQ(made(&options).resident_experts, 0);
  options = initial;
  options.experts_mapped = 1;
  EXPECT_EQ(made(&options).guard_mapped, 1);
  EXPECT_EQ(made(&options).resident_experts, 3);
  // A set member is used, and checked there.
  options = initial;
  options.guard_mapped = 1;
  options.resident_experts = 2;
  EXPECT_EQ(made(&options).guard_mapped, 1);
  EXPECT_EQ(made(&options).resident_experts, 2);
  const TemporaryVariable quantize("RUNCIBLE_MODEL_QUANTIZE", "q8_0");
  options = initial;
  options.experts_mapped = 1;
  EXPECT_EQ(made(&options).quantize, nullptr);
  options.experts_mapped = 0;
  EXPECT_STREQ(made(&options).quantize, "q8_0");
  const TemporaryVariable mapped("RUNCIBLE_MODEL_KEEP_MAPPED", "true");
  options = initial;
  options.quantize = "q8_0";
  EXPECT_EQ(made(&options).keep_mapped, 0);
  options.quantize = "";
  EXPECT_EQ(made(&options).keep_mapped, 1);
}

// With a header from before RC_UNSET_INT32 an empty type counts as unset.
TEST(Configured, EmptyTypeOfAnOlderHeaderIsUnset) {
  const TemporaryVariable quantize("RUNCIBLE_MODEL_QUANTIZE", "q8_0");
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  options.quantize = "";
  EXPECT_STREQ(made(&options).quantize, "");
  options.struct_size = offsetof(rc_model_options, ignore_configuration);
  EXPECT_STREQ(made(&options).quantize, "q8_0");
}

// A configured value is for models of all sizes.
TEST(Configured, ContextLengthIsLimitedToThatOfTheModel) {
  const rc_session_options initial = RC_SESSION_OPTIONS_INIT;
  const auto of_model = [](const rc_session_options& options, int64_t most) {
    config::Settings::now();
    return configured(&options, most);
  };
  const TemporaryVariable context("RUNCIBLE_SESSION_CONTEXT_LENGTH", "40");
  EXPECT_EQ(of_model(initial, 64).context_length, 40);
  EXPECT_EQ(of_model(initial, 39).context_length, 39);  // of a smaller model
  rc_session_options own = initial;
  own.context_length = 50;
  EXPECT_EQ(of_model(own, 64).context_length, 50);
  EXPECT_EQ(of_model(own, 39).context_length, 50);  // which is an error
  // A shift leaves room for two tokens.
  const TemporaryVariable keep("RUNCIBLE_SESSION_KEEP_TOKENS", "38");
  EXPECT_EQ(of_model(initial, 64).keep_tokens, 38);
  EXPECT_EQ(of_model(initial, 39).keep_tokens, 37);
  EXPECT_EQ(of_model(initial, 1).keep_tokens, 0);
  EXPECT_EQ(of_model(own, 64).keep_tokens, 38);
  own.context_length = 20;
  EXPECT_EQ(of_model(own, 64).keep_tokens, 18);
  own.keep_tokens = 5;
  EXPECT_EQ(of_model(own, 64).keep_tokens, 5);
  own.keep_tokens = 0;
  EXPECT_EQ(of_model(own, 64).keep_tokens, 0);
}

}  // namespace
}  // namespace rc::api
