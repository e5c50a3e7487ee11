// Options out of range: errors name the option, the value and the limit, and
// the handle stays usable.
#include <cmath>
#include <cstdlib>
#include <functional>

#include "api_util.h"
#include "test_data.h"

namespace rc::test {
namespace {

struct OptionCase {
  const char* name;
  std::function<void(rc_generate_options&)> set;
  const char* value;  // that the message shows
};

TEST(Options, GenerateOptionsOutOfRangeAreNamed) {
  const Backend backend = open_backend();
  const Model model = load_model(backend.get());
  const Session session = create_session(model.get());
  const std::string text = generate(session.get());
  static const int32_t far_token = 272;
  static const int32_t near_token = 1;
  static const float no_bias = 0;
  static const float nan_bias = kNan;
  static const int32_t negative = -5;
  static const char* const empty_stop = "";
  static const char* const no_stop = nullptr;
  const std::vector<OptionCase> cases = {
      {"temperature", [](auto& o) { o.temperature = kNan; }, "nan"},
      {"temperature", [](auto& o) { o.temperature = -0.5f; }, "-0.5"},
      {"temperature", [](auto& o) { o.temperature = kInfinity; }, "inf"},
      {"top_k", [](auto& o) { o.top_k = -1; }, "-1"},
      {"top_p", [](auto& o) { o.top_p = 3; }, "3"},
      {"top_p", [](auto& o) { o.top_p = 0; }, "0"},
      {"top_p", [](auto& o) { o.top_p = kNan; }, "nan"},
      {"min_p", [](auto& o) { o.min_p = 1.5f; }, "1.5"},
      {"min_p", [](auto& o) { o.min_p = -0.25f; }, "-0.25"},
      {"typical_p", [](auto& o) { o.typical_p = 2; }, "2"},
      {"penalty_tokens", [](auto& o) { o.penalty_tokens = -2; }, "-2"},
      {"repetition_penalty", [](auto& o) { o.repetition_penalty = 0; }, "0"},
      {"repetition_penalty", [](auto& o) { o.repetition_penalty = kNan; },
       "nan"},
      {"presence_penalty", [](auto& o) { o.presence_penalty = kInfinity; },
       "inf"},
      {"frequency_penalty", [](auto& o) { o.frequency_penalty = kNan; }, "nan"},
      {"max_tokens", [](auto& o) { o.max_tokens = -2; }, "-2"},
      {"deadline_ms", [](auto& o) { o.deadline_ms = -1; }, "-1"},
      {"logprobs", [](auto& o) { o.logprobs = 65; }, "65"},
      {"logprobs", [](auto& o) { o.logprobs = -2; }, "-2"},
      {"ignore_eos", [](auto& o) { o.ignore_eos = 2; }, "2"},
      {"echo", [](auto& o) { o.echo = -1; }, "-1"},
      {"tokenize_flags", [](auto& o) { o.tokenize_flags = 8; }, "8"},
      {"prompt", [](auto& o) { o.prompt_length = 3; }, "NULL"},
      {"prompt_tokens", [](auto& o) { o.prompt_token_count = 3; }, "NULL"},
      {"prompt_tokens",
       [](auto& o) {
         o.prompt_tokens = &negative;
         o.prompt_token_count = 1;
       },
       "-5"},
      {"stop_tokens",
       [](auto& o) {
         o.stop_tokens = &negative;
         o.stop_token_count = 1;
       },
       "-5"},
      {"stop",
       [](auto& o) {
         o.stop = &empty_stop;
         o.stop_count = 1;
       },
       "empty"},
      {"stop",
       [](auto& o) {
         o.stop = &no_stop;
         o.stop_count = 1;
       },
       "NULL"},
      {"stop", [](auto& o) { o.stop_count = 1; }, "NULL"},
      {"logit_bias_tokens[0]",
       [](auto& o) {
         o.logit_bias_tokens = &far_token;
         o.logit_bias = &no_bias;
         o.logit_bias_count = 1;
       },
       "272"},
      {"logit_bias_tokens",
       [](auto& o) {
         o.logit_bias = &no_bias;
         o.logit_bias_count = 1;
       },
       "NULL"},
      {"logit_bias",
       [](auto& o) {
         o.logit_bias_tokens = &near_token;
         o.logit_bias_count = 1;
       },
       "NULL"},
      {"logit_bias[0]",
       [](auto& o) {
         o.logit_bias_tokens = &near_token;
         o.logit_bias = &nan_bias;
         o.logit_bias_count = 1;
       },
       "nan"},
      {"ignore_configuration", [](auto& o) { o.ignore_configuration = -1; },
       "-1"},
      {"reserved", [](auto& o) { o.reserved = 1; }, "1"},
      {"struct_size", [](auto& o) { o.struct_size = 0; }, "0"},
      {"struct_size", [](auto& o) { o.struct_size = SIZE_MAX; }, "18446744"},
  };
  for (const OptionCase& c : cases) {
    rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
    options.max_tokens = 1;
    c.set(options);
    char* out = nullptr;
    EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
                 rc_generate(session.get(), &options, &out, nullptr, nullptr),
                 c.name, c.value);
    EXPECT_EQ(out, nullptr);
    rc_request* request = nullptr;
    EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
                 rc_generate_async(session.get(), &options, nullptr, nullptr,
                                   nullptr, &request),
                 c.name, c.value);
    EXPECT_EQ(request, nullptr);
  }
  EXPECT_EQ(generate(session.get()), text);
}

TEST(Options, BackendOptionsOutOfRangeAreNamed) {
  rc_backend* backend = nullptr;
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  using Options = rc_backend_options;
  const struct {
    void (*set)(Options& options);
    const char *name, *value;
  } cases[] = {
      {[](Options& o) { o.threads = -1; }, "options->threads", "-1"},
      {[](Options& o) { o.threads = 1025; }, "options->threads", "1025"},
      {[](Options& o) { o.max_requests = -3; }, "options->max_requests", "-3"},
      {[](Options& o) { o.timeout_ms = -7; }, "options->timeout_ms", "-7"},
      {[](Options& o) { o.strict = 2; }, "options->strict", "2"},
      {[](Options& o) { o.profile = -1; }, "options->profile", "-1"},
      {[](Options& o) { o.measure = 2; }, "options->measure", "2"},
      {[](Options& o) { o.placement = RC_PLACEMENT_EACH_OP + 1; },
       "options->placement", "3"},
      {[](Options& o) { o.placement = -1; }, "options->placement", "-1"},
      {[](Options& o) { o.numa = RC_NUMA_LOCAL + 1; }, "options->numa", "4"},
      {[](Options& o) { o.numa = -1; }, "options->numa", "-1"},
      {[](Options& o) { o.reserved = 1; }, "options->reserved", "1"},
      {[](Options& o) { o.reserved = -1; }, "options->reserved", "-1"},
      {[](Options& o) { o.reserved2 = 1; }, "options->reserved2", "1"},
      {[](Options& o) { o.ignore_configuration = 2; },
       "options->ignore_configuration", "2"},
  };
  for (const auto& one : cases) {
    options = RC_BACKEND_OPTIONS_INIT;
    one.set(options);
    EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
                 rc_backend_open("reference", &options, &backend), one.name,
                 one.value);
    EXPECT_EQ(backend, nullptr);
  }
  options = RC_BACKEND_OPTIONS_INIT;
  options.threads = 1024;
  options.max_requests = 0;
  options.timeout_ms = 0;
  options.strict = options.profile = options.measure = 1;
  EXPECT_OK(rc_backend_open("reference", &options, &backend));
  rc_backend_release(backend);
  backend = nullptr;
  options = RC_BACKEND_OPTIONS_INIT;
  options.required_memory = UINT64_MAX;
  EXPECT_NE(rc_backend_open("reference", &options, &backend), RC_OK);
  EXPECT_EQ(backend, nullptr);
}

TEST(Options, ThreadsAreReadFromTheEnvironment) {
  rc_backend* backend = nullptr;
  for (const char* value : {"-1", "many", "2000000000"}) {
    setenv("RUNCIBLE_THREADS", value, 1);
    EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
                 rc_backend_open("cpu", nullptr, &backend), "RUNCIBLE_THREADS",
                 value);
  }
  // One that is set is not asked for; zero is a number, too.
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.threads = 0;
  EXPECT_OK(rc_backend_open("cpu", &options, &backend));
  rc_backend_release(backend);
  unsetenv("RUNCIBLE_THREADS");
  EXPECT_NE(open_backend(), nullptr);
}

TEST(Options, UnknownAndMalformedBackendsAreRefused) {
  rc_backend* backend = nullptr;
  EXPECT_FAILS(RC_E_NOT_FOUND, rc_backend_open("quantum", nullptr, &backend),
               "quantum");
  EXPECT_FAILS(RC_E_NOT_FOUND,
               rc_backend_open("quantum,abacus:1", nullptr, &backend),
               "quantum", "abacus");
  for (const char* spec : {",", "reference,", ":0", "reference:", "refer-ence",
                           "reference:-1", "reference:99999999999999999999"}) {
    EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
                 rc_backend_open(spec, nullptr, &backend), spec);
  }
  EXPECT_FAILS(RC_E_BACKEND_UNAVAILABLE,
               rc_backend_open("reference:7", nullptr, &backend),
               "reference:7");
  EXPECT_EQ(backend, nullptr);
}

TEST(Options, ModelOptionsOutOfRangeAreNamed) {
  const Backend backend = open_backend();
  const auto load = [&](auto set) {
    rc_model_options options = RC_MODEL_OPTIONS_INIT;
    set(options);
    rc_model* model = nullptr;
    const rc_status status =
        rc_model_load(backend.get(), model_path().c_str(), &options, &model);
    EXPECT_EQ(model, nullptr);
    return status;
  };
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               load([](auto& o) { o.context_length = -1; }), "context_length",
               "-1");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               load([](auto& o) { o.context_length = INT64_MAX; }));
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               load([](auto& o) { o.cache_tokens = -2; }), "cache_tokens",
               "-2");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               load([](auto& o) { o.cache_dtype = RC_DTYPE_Q4_K; }),
               "cache_dtype", "Q4_K");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               load([](auto& o) { o.cache_dtype = 12345; }), "cache_dtype",
               "12345");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, load([](auto& o) { o.max_rows = -1; }),
               "max_rows", "-1");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, load([](auto& o) { o.prefix_cache = 5; }),
               "prefix_cache", "5");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, load([](auto& o) { o.keep_mapped = 2; }),
               "keep_mapped", "2");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               load([](auto& o) { o.takes_embeddings = 2; }),
               "takes_embeddings", "2");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, load([](auto& o) { o.reserved2 = 1; }),
               "reserved2", "1");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               load([](auto& o) { o.ignore_configuration = 2; }),
               "ignore_configuration", "2");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, load([](auto& o) { o.guard_mapped = 1; }),
               "guard_mapped", "keep_mapped");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, load([](auto& o) {
                 o.keep_mapped = 1;
                 o.guard_mapped = 2;
               }),
               "guard_mapped", "2");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               load([](auto& o) { o.experts_mapped = 2; }), "experts_mapped",
               "2");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               load([](auto& o) { o.resident_experts = 1; }),
               "options->resident_experts: 1, but all are resident unless "
               "experts_mapped is 1");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               load([](auto& o) { o.cache_dtype = RC_DTYPE_BF16; }),
               "options->cache_dtype: BF16 is none of F16, F32 and Q8_0");
  EXPECT_FAILS(RC_E_UNSUPPORTED, load([](auto& o) { o.experts_mapped = 1; }),
               "experts_mapped", "no experts");
  EXPECT_FAILS(RC_E_UNSUPPORTED, load([](auto& o) { o.experts_on = "cpu"; }),
               "experts_on", "no experts");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               load([](auto& o) { o.experts_on_layers = 3; }),
               "options->experts_on_layers: 3, but no experts lie elsewhere "
               "unless experts_on says where");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               load([](auto& o) { o.experts_on_layers = -1; }),
               "experts_on_layers", "-1");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, load([](auto& o) { o.fit = 2; }),
               "options->fit", "2");
  EXPECT_NE(load_model(backend.get()), nullptr);
}

// With a header from before keep_mapped, and with the member.
TEST(Options, KeepMappedLeavesWeightsInTheFile) {
  const Backend backend = open_backend();
  const auto weights = [&](const rc_model_options& options) {
    const rc_plan_report plan =
        report_of(plan_model(backend.get(), model_path(), &options).get());
    rc_model* loaded = nullptr;
    EXPECT_OK(
        rc_model_load(backend.get(), model_path().c_str(), &options, &loaded));
    const Model model(loaded);
    rc_model_report report = RC_MODEL_REPORT_INIT;
    EXPECT_OK(rc_model_describe(loaded, &report));
    EXPECT_EQ(plan.weights, report.weight_bytes);
    return report.weight_bytes;
  };
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  const uint64_t copied = weights(options);
  options.keep_mapped = 1;
  EXPECT_LT(weights(options), copied / 10);
  options.guard_mapped = 1;
  EXPECT_LT(weights(options), copied / 10);
  options.keep_mapped = 77;
  options.struct_size = offsetof(rc_model_options, keep_mapped);
  EXPECT_EQ(weights(options), copied);
}

TEST(Options, QuantizeReducesTheWeights) {
  const Backend backend = open_backend("cpu");
  const std::string folder = source_path("tests/golden/folders/qwen2").string();
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  const auto weights = [&] {
    const rc_plan_report plan =
        report_of(plan_model(backend.get(), folder, &options).get());
    rc_model* loaded = nullptr;
    EXPECT_OK(rc_model_load(backend.get(), folder.c_str(), &options, &loaded));
    const Model model(loaded);
    rc_model_report report = RC_MODEL_REPORT_INIT;
    EXPECT_OK(rc_model_describe(loaded, &report));
    EXPECT_EQ(plan.weights, report.weight_bytes);
    return report.weight_bytes;
  };
  const uint64_t plain = weights();
  options.quantize = "q4_0";
  EXPECT_LT(weights(), plain / 2);
  const auto load = [&] {
    rc_model* model = nullptr;
    const rc_status status =
        rc_model_load(backend.get(), folder.c_str(), &options, &model);
    EXPECT_EQ(model, nullptr);
    return status;
  };
  options.quantize = "Q9";
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, load(), "type 'Q9'", "Q4_K_M");
  options.quantize = "";
  EXPECT_EQ(weights(), plain);
  options.quantize = "Q4_0";
  options.keep_mapped = 1;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, load(), "quantize", "keep_mapped");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               try_plan(backend.get(), folder.c_str(), &options),
               "keep_mapped");
  // With a header from before the member.
  options.keep_mapped = 0;
  options.struct_size = offsetof(rc_model_options, quantize);
  EXPECT_EQ(weights(), plain);
}

// Each text of a plan's offers is the plan's.
TEST(Options, PlanOffersHaveTexts) {
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  options.context_length = options.cache_tokens = 64;
  const Backend whole = open_backend();
  const rc_plan_report fitting =
      report_of(plan_model(whole.get(), model_path(), &options).get());
  EXPECT_EQ(fitting.fits, 1);
  EXPECT_EQ(fitting.offer_count, 0);
  rc_backend_options limits = RC_BACKEND_OPTIONS_INIT;
  limits.memory_limit = fitting.total - 1;
  rc_backend* opened = nullptr;
  ASSERT_OK(rc_backend_open("cpu", &limits, &opened));
  const Backend backend(opened);
  const auto plan = plan_model(backend.get(), model_path(), &options);
  const rc_plan_report report = report_of(plan.get());
  EXPECT_EQ(report.fits, 0);
  ASSERT_GE(report.offer_count, 2);
  bool mapped = false;
  for (int32_t i = 0; i < report.offer_count; ++i) {
    rc_plan_offer_report offer = RC_PLAN_OFFER_REPORT_INIT;
    ASSERT_OK(rc_plan_offer(plan.get(), static_cast<size_t>(i), &offer));
    EXPECT_LT(offer.total, fitting.total);
    EXPECT_NE(std::string(offer.summary), "");
    EXPECT_NE(std::string(offer.value), "");
    mapped |= offer.option == std::string("keep_mapped");
  }
  EXPECT_TRUE(mapped);
  rc_plan_offer_report offer = RC_PLAN_OFFER_REPORT_INIT;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_plan_offer(plan.get(),
                             static_cast<size_t>(report.offer_count), &offer),
               "i");
}

TEST(Options, MemoryLimitOfABackendIsEnforced) {
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.memory_limit = 1000;
  rc_backend* opened = nullptr;
  ASSERT_OK(rc_backend_open("reference", &options, &opened));
  const Backend backend(opened);
  rc_model* model = nullptr;
  EXPECT_FAILS(
      RC_E_DEVICE_MEMORY,
      rc_model_load(backend.get(), model_path().c_str(), nullptr, &model),
      "1000");
  EXPECT_EQ(model, nullptr);
  const rc_plan_report plan =
      report_of(plan_model(backend.get(), model_path(), nullptr).get());
  EXPECT_EQ(plan.fits, 0);
  EXPECT_EQ(plan.largest_context, 0);
}

TEST(Options, SessionOptionsOutOfRangeAreNamed) {
  const Backend backend = open_backend();
  const Model model = load_model(backend.get());
  const auto create = [&](auto set) {
    rc_session_options options = RC_SESSION_OPTIONS_INIT;
    set(options);
    rc_session* session = nullptr;
    const rc_status status = rc_session_create(model.get(), &options, &session);
    EXPECT_EQ(session, nullptr);
    return status;
  };
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               create([](auto& o) { o.context_length = 65; }), "context_length",
               "65", "64");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               create([](auto& o) { o.context_length = -1; }), "context_length",
               "-1");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               create([](auto& o) { o.keep_tokens = -1; }), "keep", "-1");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               create([](auto& o) { o.keep_tokens = 64; }), "keep", "64");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, create([](auto& o) { o.when_full = 2; }),
               "when_full", "2");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, create([](auto& o) { o.reserved = 1; }),
               "reserved", "1");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               create([](auto& o) { o.ignore_configuration = 2; }),
               "ignore_configuration", "2");
}

}  // namespace
}  // namespace rc::test
