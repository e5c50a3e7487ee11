// A model larger than what a device may take: its layers are spread over the
// device and the cpu, and the text is that of the cpu alone. With F32 weights
// and cache, so that no device has anything to round.
#include <filesystem>

#include "api/api_util.h"
#include "converted_copy.h"
#include "test_data.h"

namespace rc::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> other_devices() {
  std::vector<std::string> ids;
  rc_device_list* list = nullptr;
  if (rc_discover(&list) != RC_OK) return ids;
  for (size_t i = 0; i < rc_device_list_count(list); ++i) {
    rc_device_report report = RC_DEVICE_REPORT_INIT;
    if (rc_device_list_get(list, i, &report) != RC_OK) continue;
    const std::string backend = report.backend;
    if (report.index >= 0 && backend != "cpu") ids.emplace_back(report.id);
  }
  rc_device_list_release(list);
  return ids;
}

Backend open(const std::string& spec, uint64_t memory_limit) {
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.memory_limit = memory_limit;
  rc_backend* backend = nullptr;
  // A device may be listed and yet not open; then there is nothing to spread
  // to.
  if (rc_backend_open(spec.c_str(), &options, &backend) != RC_OK) return {};
  return Backend(backend);
}

rc_model_options model_options() {
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  options.context_length = 128;
  options.cache_tokens = 128;
  options.cache_dtype = RC_DTYPE_F32;
  options.max_rows = 32;
  return options;
}

Plan plan(rc_backend* backend, const std::string& path) {
  const rc_model_options options = model_options();
  return plan_model(backend, path, &options);
}

void generate(rc_backend* backend, const std::string& path,
              const rc_plan_report& planned, std::string* result) {
  const rc_model_options options = model_options();
  rc_model* loaded = nullptr;
  ASSERT_OK(rc_model_load(backend, path.c_str(), &options, &loaded));
  const Model model(loaded);
  rc_model_report report = RC_MODEL_REPORT_INIT;
  ASSERT_OK(rc_model_describe(loaded, &report));
  EXPECT_EQ(report.weight_bytes, planned.weights);
  EXPECT_EQ(report.cache_bytes, planned.cache);
  EXPECT_EQ(report.scratch_bytes, planned.scratch);
  rc_session* created = nullptr;
  ASSERT_OK(rc_session_create(loaded, nullptr, &created));
  const Session session(created);
  rc_generate_options sampling = RC_GENERATE_OPTIONS_INIT;
  const std::string prompt = "Once upon a time";
  sampling.prompt = prompt.data();
  sampling.prompt_length = prompt.size();
  sampling.temperature = 0;
  sampling.max_tokens = 64;
  sampling.ignore_eos = 1;
  char* text = nullptr;
  size_t length = 0;
  ASSERT_OK(rc_generate(created, &sampling, &text, &length, nullptr));
  *result = std::string(text, length);
  rc_free(text);
}

TEST(Spread, TextEqualsThatOnTheCpuAlone) {
  const std::string path =
      (fs::temp_directory_path() / "runcible_spread_fable_f32.gguf").string();
  write_converted_copy(source_path("examples/model/fable.gguf").string(), path,
                       RC_DTYPE_F32);
  const Backend cpu = open("cpu", 0);
  ASSERT_NE(cpu, nullptr) << rc_error_message();
  const rc_plan_report whole = report_of(plan(cpu.get(), path).get());
  std::string expected;
  generate(cpu.get(), path, whole, &expected);
  EXPECT_GT(expected.size(), 64u);

  for (const std::string& id : other_devices()) {
    SCOPED_TRACE(id);
    const Backend unlimited = open(id, 0);
    if (unlimited == nullptr) continue;
    // A device with unsupported ops holds less than the whole model.
    const uint64_t limit =
        device_of(plan(unlimited.get(), path).get(), 0).total / 2;
    const Backend backend = open(id + ",cpu", limit);
    const Plan planned = plan(backend.get(), path);
    ASSERT_EQ(report_of(planned.get()).device_count, 2);
    EXPECT_EQ(device_of(planned.get(), 0).device, id);
    EXPECT_GT(device_of(planned.get(), 0).layers, 0);
    EXPECT_GT(device_of(planned.get(), 1).layers, 0);
    EXPECT_LE(device_of(planned.get(), 0).total, limit);
    std::string text;
    generate(backend.get(), path, report_of(planned.get()), &text);
    EXPECT_EQ(text, expected);
  }
  fs::remove(path);
}

}  // namespace
}  // namespace rc::test
