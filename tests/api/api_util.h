// Helpers shared by the tests of the C ABI.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "runcible/plugin.h"
#include "runcible/runcible.h"

namespace rc::test {

template <auto release>
struct Release {
  template <class T>
  void operator()(T* handle) const {
    release(handle);
  }
};
using Backend = std::unique_ptr<rc_backend, Release<rc_backend_release>>;
using Model = std::unique_ptr<rc_model, Release<rc_model_release>>;
using Plan = std::unique_ptr<rc_plan, Release<rc_plan_release>>;
using Session = std::unique_ptr<rc_session, Release<rc_session_release>>;
using Loop = std::unique_ptr<rc_loop, Release<rc_loop_release>>;
using Request = std::unique_ptr<rc_request, Release<rc_request_release>>;
using Conversation = std::unique_ptr<rc_chat, Release<rc_chat_release>>;
using Tokenizer = std::unique_ptr<rc_tokenizer, Release<rc_tokenizer_release>>;

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
// The messages of a conversation that begins.
inline constexpr char kHello[] = R"([{"role": "user", "content": "Hello"}])";

// A small model with a tokenizer, 272 tokens of vocabulary.
std::string model_path();

Backend open_backend(const char* spec = "reference");
Backend open_limited(const std::string& spec, uint64_t memory_limit);
// Loads the small model with a context of 64 tokens.
Model load_model(rc_backend* backend);
Session create_session(rc_model* model);

// The result of a load on a loop, which a callback stores.
struct Loaded {
  int calls = 0;
  rc_status status = RC_OK;
  std::string message;
  Model model;
};

// Returns the plan of loading the model; `options` may be NULL.
Plan plan_model(rc_backend* backend, const std::string& path,
                const rc_model_options* options);
rc_plan_report report_of(rc_plan* plan);
rc_plan_device_report device_of(rc_plan* plan, size_t i);
// The status of rc_model_plan.
rc_status try_plan(rc_backend* backend, const char* path,
                   const rc_model_options* options);

// One that drops its oldest tokens when it is full: a generation without a
// maximum goes on until it is cancelled.
Session create_endless_session(rc_model* model);

// A deterministic generation of a few tokens, from an empty session.
std::string generate(rc_session* session);

// Returns every function that opens a model file.
std::vector<std::function<rc_status(const char*)>> openers(rc_backend* backend);

// The call fails with the status, and its message holds every one of the texts.
#define EXPECT_FAILS(expected, call, ...)                                      \
  do {                                                                         \
    const rc_status expect_status = (call);                                    \
    EXPECT_STREQ(rc_status_name(expect_status), #expected)                     \
        << #call << ": " << rc_error_message();                                \
    for (const std::string& text : std::vector<std::string>{__VA_ARGS__}) {    \
      EXPECT_NE(std::string(rc_error_message()).find(text), std::string::npos) \
          << #call << ": " << rc_error_message() << "\nlacks " << text;        \
    }                                                                          \
  } while (0)

#define ASSERT_OK(call) ASSERT_EQ((call), RC_OK) << rc_error_message()
#define EXPECT_OK(call) EXPECT_EQ((call), RC_OK) << rc_error_message()

}  // namespace rc::test
