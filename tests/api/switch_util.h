// Handles that are switched, for tests.
#pragma once

#include <cstdint>
#include <string>

#include "api_util.h"
#include "test_data.h"

namespace rc::test {

inline rc_status switch_to(const Backend& backend, const char* spec,
                           int64_t wait_ms = 0) {
  rc_backend_switch_options options = RC_BACKEND_SWITCH_OPTIONS_INIT;
  options.wait_ms = wait_ms;
  return rc_backend_switch(backend.get(), spec, &options);
}

inline std::string device_of(const Backend& backend) {
  rc_device_report report = RC_DEVICE_REPORT_INIT;
  EXPECT_OK(rc_backend_device(backend.get(), &report));
  return report.backend;
}

inline std::string device_of(const Model& model) {
  rc_model_report report = RC_MODEL_REPORT_INIT;
  EXPECT_OK(rc_model_describe(model.get(), &report));
  return report.device;
}

inline uint64_t memory_of(const Backend& backend) {
  rc_backend_usage_report report = RC_BACKEND_USAGE_REPORT_INIT;
  EXPECT_OK(rc_backend_usage(backend.get(), &report));
  return report.memory;
}

inline uint64_t bytes_of(const Model& model) {
  rc_model_report report = RC_MODEL_REPORT_INIT;
  EXPECT_OK(rc_model_describe(model.get(), &report));
  return report.weight_bytes + report.cache_bytes + report.scratch_bytes;
}

inline Model load_fable(const Backend& backend) {
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  options.context_length = 256;
  options.cache_tokens = 1024;
  rc_model* model = nullptr;
  EXPECT_OK(rc_model_load(backend.get(),
                          source_path("examples/model/fable.gguf").c_str(),
                          &options, &model));
  return Model(model);
}

inline std::string greedy(rc_session* session, const std::string& prompt,
                          int count) {
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.prompt = prompt.data();
  options.prompt_length = prompt.size();
  options.max_tokens = count;
  options.temperature = 0;
  options.ignore_eos = 1;
  char* text = nullptr;
  size_t length = 0;
  EXPECT_OK(rc_generate(session, &options, &text, &length, nullptr));
  const std::string copy(text == nullptr ? "" : std::string(text, length));
  rc_free(text);
  return copy;
}

}  // namespace rc::test
