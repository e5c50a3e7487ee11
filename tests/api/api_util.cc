#include "api_util.h"

#include <unistd.h>

#include "test_data.h"

namespace rc::test {

// Once: the paths of the standard library compute with floats, which a test may
// have trap.
std::string model_path() {
  static const std::string path =
      source_path("tests/golden/architectures/llama2.gguf").string();
  return path;
}

Backend open_backend(const char* spec) {
  rc_backend* backend = nullptr;
  EXPECT_OK(rc_backend_open(spec, nullptr, &backend));
  return Backend(backend);
}

Backend open_limited(const std::string& spec, uint64_t memory_limit) {
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.memory_limit = memory_limit;
  rc_backend* backend = nullptr;
  EXPECT_OK(rc_backend_open(spec.c_str(), &options, &backend));
  return Backend(backend);
}

Model load_model(rc_backend* backend) {
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  options.context_length = 64;
  rc_model* model = nullptr;
  EXPECT_OK(rc_model_load(backend, model_path().c_str(), &options, &model));
  return Model(model);
}

Session create_session(rc_model* model) {
  rc_session* session = nullptr;
  EXPECT_OK(rc_session_create(model, nullptr, &session));
  return Session(session);
}

Session create_endless_session(rc_model* model) {
  rc_session_options options = RC_SESSION_OPTIONS_INIT;
  options.when_full = RC_FULL_SHIFT;
  rc_session* session = nullptr;
  EXPECT_OK(rc_session_create(model, &options, &session));
  return Session(session);
}

std::string generate(rc_session* session) {
  EXPECT_OK(rc_session_truncate(session, 0));
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.prompt = "hello";
  options.prompt_length = 5;
  options.max_tokens = 8;
  options.seed = 3;
  options.ignore_eos = 1;
  char* text = nullptr;
  size_t length = 0;
  EXPECT_OK(rc_generate(session, &options, &text, &length, nullptr));
  if (text == nullptr) return "";
  const std::string copy(text, length);
  rc_free(text);
  return copy;
}

Plan plan_model(rc_backend* backend, const std::string& path,
                const rc_model_options* options) {
  rc_plan* plan = nullptr;
  EXPECT_OK(rc_model_plan(path.c_str(), options, backend, &plan));
  return Plan(plan);
}

rc_plan_report report_of(rc_plan* plan) {
  rc_plan_report report = RC_PLAN_REPORT_INIT;
  EXPECT_OK(rc_plan_describe(plan, &report));
  return report;
}

rc_plan_device_report device_of(rc_plan* plan, size_t i) {
  rc_plan_device_report report = RC_PLAN_DEVICE_REPORT_INIT;
  EXPECT_OK(rc_plan_device(plan, i, &report));
  return report;
}

rc_status try_plan(rc_backend* backend, const char* path,
                   const rc_model_options* options) {
  rc_plan* plan = nullptr;
  const rc_status status = rc_model_plan(path, options, backend, &plan);
  rc_plan_release(plan);
  return status;
}

std::vector<std::function<rc_status(const char*)>> openers(
    rc_backend* backend) {
  return {
      [](const char* path) {
        rc_model_info* info = nullptr;
        const rc_status status = rc_model_info_open(path, &info);
        rc_model_info_release(info);
        return status;
      },
      [](const char* path) { return rc_model_verify(path); },
      [](const char* path) {
        rc_tokenizer* tokenizer = nullptr;
        const rc_status status = rc_tokenizer_open(path, &tokenizer);
        rc_tokenizer_release(tokenizer);
        return status;
      },
      [backend](const char* path) { return try_plan(backend, path, nullptr); },
      [backend](const char* path) {
        rc_model* model = nullptr;
        const rc_status status = rc_model_load(backend, path, nullptr, &model);
        rc_model_release(model);
        return status;
      },
  };
}

}  // namespace rc::test
