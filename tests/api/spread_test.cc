// Models on several devices with fallbacks to the CPU, through the C ABI:
// plans, loading, reports and generations.
#include <nlohmann/json.hpp>

#include "api_util.h"
#include "converted_copy.h"
#include "runtime/wrapped_plugin.h"
#include "temporary.h"
#include "test_data.h"

namespace rc::test {
namespace {

using Json = nlohmann::json;

Backend open_with_one_thread(const char* spec, uint64_t limit,
                             bool strict = false) {
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.memory_limit = limit;
  options.threads = 1;
  options.strict = strict ? 1 : 0;
  rc_backend* backend = nullptr;
  EXPECT_OK(rc_backend_open(spec, &options, &backend));
  return Backend(backend);
}

Model load(rc_backend* backend, const std::string& path,
           const rc_model_options& options) {
  rc_model* model = nullptr;
  EXPECT_OK(rc_model_load(backend, path.c_str(), &options, &model));
  return Model(model);
}

Json explain(rc_backend* backend) {
  const char* json = nullptr;
  EXPECT_OK(rc_backend_explain(backend, &json));
  return Json::parse(json);
}

std::string greedy(rc_model* model, int64_t tokens) {
  const Session session = create_session(model);
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  const std::string prompt = "Once upon a time";
  options.prompt = prompt.data();
  options.prompt_length = prompt.size();
  options.temperature = 0;
  options.max_tokens = tokens;
  options.ignore_eos = 1;
  char* text = nullptr;
  size_t length = 0;
  EXPECT_OK(rc_generate(session.get(), &options, &text, &length, nullptr));
  const std::string copy(text == nullptr ? "" : text, length);
  rc_free(text);
  return copy;
}

rc_model_options small_options() {
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  options.context_length = 128;
  options.cache_tokens = 128;
  options.max_rows = 32;
  return options;
}

TEST(Spread, FableTextEqualsThatOnTheCpuAlone) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "fable.gguf").string();
  write_converted_copy(source_path("examples/model/fable.gguf").string(), path,
                       RC_DTYPE_F32);
  const rc_model_options options = small_options();
  const Backend cpu = open_with_one_thread("cpu", 0);
  const Plan on_cpu = plan_model(cpu.get(), path, &options);
  const rc_plan_report whole = report_of(on_cpu.get());
  EXPECT_EQ(whole.device_count, 1);
  EXPECT_STREQ(device_of(on_cpu.get(), 0).device, "cpu:0");
  EXPECT_EQ(device_of(on_cpu.get(), 0).layers, 4);
  EXPECT_EQ(device_of(on_cpu.get(), 0).total, whole.total);
  rc_plan_device_report none = RC_PLAN_DEVICE_REPORT_INIT;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_plan_device(on_cpu.get(), 1, &none),
               "i: 1", "1 devices");
  const std::string expected = greedy(load(cpu.get(), path, options).get(), 64);

  WrappedState& state = wrap_backend("small", "cpu");
  const uint64_t limit = whole.total / 2;
  const Backend backend = open_with_one_thread("small,cpu", limit);
  const Plan on_both = plan_model(backend.get(), path, &options);
  const rc_plan_report planned = report_of(on_both.get());
  ASSERT_EQ(planned.device_count, 2);
  const rc_plan_device_report first = device_of(on_both.get(), 0);
  const rc_plan_device_report second = device_of(on_both.get(), 1);
  EXPECT_STREQ(first.device, "small:0");
  EXPECT_STREQ(second.device, "cpu:0");
  EXPECT_EQ(planned.fits, 1);
  EXPECT_EQ(planned.available, limit);
  EXPECT_LE(first.total, limit);
  EXPECT_GT(first.layers, 0);
  EXPECT_LT(first.layers, 4);
  EXPECT_EQ(first.first_layer, 0);
  EXPECT_EQ(second.first_layer, first.layers);
  EXPECT_EQ(first.layers + second.layers, 4);
  EXPECT_EQ(second.embedding, 1);
  EXPECT_EQ(second.output, 1);
  EXPECT_EQ(first.total + second.total, planned.total);

  {
    const Model model = load(backend.get(), path, options);
    EXPECT_EQ(state.weights, first.weights);
    EXPECT_EQ(state.buffers, first.cache);
    EXPECT_EQ(state.scratch, first.scratch);
    EXPECT_EQ(greedy(model.get(), 64), expected);
    // Memory in use does not count against the limit again.
    const Model again = load(backend.get(), path, options);
    EXPECT_EQ(state.weights, first.weights);

    rc_model_report report = RC_MODEL_REPORT_INIT;
    EXPECT_OK(rc_model_describe(model.get(), &report));
    EXPECT_EQ(report.weight_bytes, planned.weights);
    EXPECT_EQ(report.cache_bytes, planned.cache);
    EXPECT_EQ(report.scratch_bytes, planned.scratch);
    rc_backend_usage_report usage = RC_BACKEND_USAGE_REPORT_INIT;
    EXPECT_OK(rc_backend_usage(backend.get(), &usage));
    EXPECT_EQ(usage.memory, planned.total);

    const Json explained = explain(backend.get())["models"][0];
    EXPECT_EQ(explained["context_length"], report.context_length);
    EXPECT_EQ(explained["cache_tokens"], report.cache_tokens);
    EXPECT_EQ(explained["cache_dtype"], "F16");
    const Json devices = explained["devices"];
    ASSERT_EQ(devices.size(), 2u);
    EXPECT_EQ(devices[0]["id"], "small:0");
    EXPECT_EQ(devices[0]["layers"], (Json{0, first.layers - 1}));
    EXPECT_EQ(devices[0]["weights"], first.weights);
    EXPECT_EQ(devices[1]["layers"], (Json{first.layers, 3}));
    EXPECT_EQ(devices[1]["output"], true);
  }
  EXPECT_EQ(state.weights + state.buffers + state.scratch, 0u);
  EXPECT_TRUE(explain(backend.get())["models"].empty());
}

TEST(Spread, WithoutASecondDeviceTheModelDoesNotFit) {
  wrap_backend("small", "cpu");
  const rc_model_options options = small_options();
  const Backend roomy = open_with_one_thread("small", 0);
  const uint64_t total =
      report_of(plan_model(roomy.get(), model_path(), &options).get()).total;
  const Backend backend = open_with_one_thread("small", total / 2);
  const rc_plan_report planned =
      report_of(plan_model(backend.get(), model_path(), &options).get());
  EXPECT_EQ(planned.fits, 0);
  EXPECT_EQ(planned.device_count, 1);
  rc_model* model = nullptr;
  EXPECT_FAILS(
      RC_E_DEVICE_MEMORY,
      rc_model_load(backend.get(), model_path().c_str(), &options, &model),
      "small:0");
}

TEST(Spread, FallbacksAreReportedAndRefusedWhenStrict) {
  WrappedState& state = wrap_backend("small", "cpu");
  state.missing_ops = {RC_OP_ROPE};
  const rc_model_options options = small_options();
  const Backend backend = open_with_one_thread("small", 0);
  EXPECT_TRUE(explain(backend.get())["fallbacks"].empty());
  const char* before = nullptr;
  ASSERT_OK(rc_backend_explain(backend.get(), &before));
  const std::string text = before;
  {
    const Model model = load(backend.get(), model_path(), options);
    const Json account = explain(backend.get());
    ASSERT_EQ(account["fallbacks"].size(), 1u);
    EXPECT_EQ(account["fallbacks"][0]["op"], "ROPE");
    EXPECT_EQ(account["fallbacks"][0]["lacking"], "small:0");
    EXPECT_EQ(account["fallbacks"][0]["device"], "cpu:0");
    EXPECT_EQ(account["fallbacks"][0]["reason"], "the test took it away");
    const Backend cpu = open_with_one_thread("cpu", 0);
    EXPECT_EQ(greedy(model.get(), 20),
              greedy(load(cpu.get(), model_path(), options).get(), 20));
  }
  EXPECT_TRUE(explain(backend.get())["fallbacks"].empty());
  EXPECT_EQ(before, text);  // it lives as long as the handle

  const Backend strict = open_with_one_thread("small", 0, true);
  rc_model* model = nullptr;
  EXPECT_FAILS(
      RC_E_UNSUPPORTED,
      rc_model_load(strict.get(), model_path().c_str(), &options, &model),
      "ROPE", "small:0", "the test took it away");
  EXPECT_FAILS(RC_E_UNSUPPORTED,
               try_plan(strict.get(), model_path().c_str(), &options), "ROPE");
}

}  // namespace
}  // namespace rc::test
