// A generation on the remote backend, and what all tests of it begin with.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>

#include "api/api_util.h"
#include "remote_util.h"
#include "temporary.h"

namespace rc::test {

using Clock = std::chrono::steady_clock;

inline constexpr int64_t kAnswerMs = 60'000;  // longer than anything takes here

// A generation on the way; its text and its end.
struct Generation {
  std::string text;
  std::string message;
  rc_generate_report report = RC_GENERATE_REPORT_INIT;
  bool ended = false;

  static void on_event(void* user, const rc_event* event) {
    auto* self = static_cast<Generation*>(user);
    if (event->type == RC_EVENT_PIECE) {
      self->text.append(event->text, event->text_length);
      return;
    }
    self->message = event->message;
    self->report = *event->report;
    self->ended = true;
  }
};

inline rc_generate_options greedy(int64_t max_tokens) {
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.prompt = "A fox and";
  options.prompt_length = std::strlen(options.prompt);
  options.max_tokens = max_tokens;
  options.temperature = 0;
  options.ignore_eos = 1;
  return options;
}

class Remote : public testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_OK(rc_plugin_load(RC_REMOTE_BACKEND)); }
  void SetUp() override {
    unsetenv("RUNCIBLE_REMOTE_TIMEOUT_MS");
    use(path("socket"));
  }

  std::string path(const char* name) const {
    return (folder_.path() / name).string();
  }
  static void use(const std::string& path) {
    setenv("RUNCIBLE_REMOTE", path.c_str(), 1);
  }
  static Model load_fable(rc_backend* backend) {
    rc_model* model = nullptr;
    EXPECT_OK(rc_model_load(backend, "builtin:fable", nullptr, &model));
    return Model(model);
  }
  static std::string fable(const char* spec) {
    const Backend backend = open_backend(spec);
    const Model model = load_fable(backend.get());
    const Session session = create_session(model.get());
    const rc_generate_options options = greedy(24);
    char* text = nullptr;
    size_t length = 0;
    EXPECT_OK(rc_generate(session.get(), &options, &text, &length, nullptr));
    const std::string copy(text == nullptr ? "" : text, length);
    rc_free(text);
    return copy;
  }

  // Runs the self-tests first: endless runs would fail them. The result is
  // remembered in a place that no other test replaces.
  void pass_self_tests() const {
    setenv("XDG_CACHE_HOME", path("cache").c_str(), 1);
    const Server server(path("socket"));
    const Backend backend = open_backend("remote");
    const Model model = load_model(backend.get());
  }

  // Dispatches events until the condition holds; false after a long time.
  static bool dispatch_until(rc_loop* loop, std::function<bool()> condition) {
    const auto end = Clock::now() + std::chrono::milliseconds(kAnswerMs);
    while (!condition()) {
      if (Clock::now() > end) return false;
      rc_loop_wait(loop, 100);
      EXPECT_OK(rc_loop_dispatch(loop, 0, nullptr));
    }
    return true;
  }

  // Returns the report of the server on the resources of its clients.
  static std::string features() {
    rc_device_list* list = nullptr;
    EXPECT_OK(rc_discover(&list));
    std::string found;
    for (size_t i = 0; i < rc_device_list_count(list); ++i) {
      rc_device_report report = RC_DEVICE_REPORT_INIT;
      EXPECT_OK(rc_device_list_get(list, i, &report));
      if (std::string(report.backend) == "remote") found = report.features;
    }
    rc_device_list_release(list);
    return found;
  }
  static bool features_end_with(const std::string& expected) {
    const auto end = Clock::now() + std::chrono::milliseconds(kAnswerMs);
    while (!features().ends_with(expected)) {
      if (Clock::now() > end) return false;
    }
    return true;
  }

  TemporaryFolder folder_;
  inline static std::unique_ptr<TemporaryFolder> cache_;
};

// Opens, loads and generates; whether all went well.
inline bool walk() {
  rc_backend* backend = nullptr;
  if (rc_backend_open("remote", nullptr, &backend) != RC_OK) return false;
  const Backend holds_backend(backend);
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  options.context_length = 64;
  rc_model* model = nullptr;
  if (rc_model_load(backend, model_path().c_str(), &options, &model) != RC_OK) {
    return false;
  }
  const Model holds_model(model);
  const Session session = create_session(model);
  const rc_generate_options wanted = greedy(2);
  char* text = nullptr;
  const rc_status status =
      rc_generate(session.get(), &wanted, &text, nullptr, nullptr);
  rc_free(text);
  return status == RC_OK;
}

}  // namespace rc::test
