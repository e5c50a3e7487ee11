// A device may fail at any call: each function of the C ABI then answers with a
// status and a message, other handles go on, and the device can be opened
// again.
#include <gtest/gtest.h>

#include <cstring>

#include "api/api_util.h"
#include "injector.h"
#include "labels.h"
#include "runtime/plugin_list.h"

namespace rc::test {
namespace {

constexpr const char* kPrompt = "hello";

// The outcome of one walk through the C ABI on the faulty backend.
class Walk {
 public:
  // `timeout_ms` of a step; 0: none.
  explicit Walk(int64_t timeout_ms = 0) : timeout_ms_(timeout_ms) { run(); }
  bool failed() const { return failed_; }
  const std::string& text() const { return text_; }

 private:
  // Whether the call succeeded; a failure has to be a status with a message.
  bool good(const char* call, rc_status status) {
    if (status == RC_OK) return true;
    failed_ = true;
    EXPECT_LT(status, 0) << call;
    EXPECT_STRNE(rc_status_name(status), "") << call;
    EXPECT_STRNE(rc_error_message(), "") << call;
    EXPECT_NE(status, RC_E_INTERNAL) << call << ": " << rc_error_message();
    return false;
  }

  void run() {
    rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
    options.threads = 1;
    options.timeout_ms = timeout_ms_;
    rc_backend* backend = nullptr;
    if (!good("rc_backend_open",
              rc_backend_open("faulty", &options, &backend))) {
      EXPECT_EQ(backend, nullptr);
      return;
    }
    const Backend holds_backend(backend);
    rc_model_options model_options = RC_MODEL_OPTIONS_INIT;
    model_options.context_length = 64;
    good("rc_model_plan",
         try_plan(backend, model_path().c_str(), &model_options));
    rc_model* model = nullptr;
    if (!good("rc_model_load", rc_model_load(backend, model_path().c_str(),
                                             &model_options, &model))) {
      EXPECT_EQ(model, nullptr);
      return;
    }
    const Model holds_model(model);
    rc_session* session = nullptr;
    if (!good("rc_session_create",
              rc_session_create(model, nullptr, &session))) {
      return;
    }
    const Session holds_session(session);
    generate(session);
    // A page that is shared has to be copied before it is written.
    rc_session* fork = nullptr;
    if (good("rc_session_fork", rc_session_fork(session, &fork))) {
      const Session holds_fork(fork);
      const int32_t token = 1;
      if (good("rc_session_append", rc_session_append(fork, &token, 1))) {
        good("rc_session_decode", rc_session_decode(fork, 0));
      }
    }
    void* saved = nullptr;
    size_t size = 0;
    if (good("rc_session_save_memory",
             rc_session_save_memory(session, &saved, &size))) {
      rc_session* restored = nullptr;
      good("rc_session_restore_memory",
           rc_session_restore_memory(model, saved, size, nullptr, &restored));
      rc_session_release(restored);
      rc_free(saved);
    }
  }

  void generate(rc_session* session) {
    rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
    options.prompt = kPrompt;
    options.prompt_length = std::strlen(kPrompt);
    options.max_tokens = 4;
    options.seed = 3;
    options.ignore_eos = 1;
    char* text = nullptr;
    size_t length = 0;
    if (good("rc_generate",
             rc_generate(session, &options, &text, &length, nullptr))) {
      text_.assign(text, length);
    }
    rc_free(text);
  }

  const int64_t timeout_ms_;
  bool failed_ = false;
  std::string text_;
};

class Faults : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (is_slow_) RC_TEST_LABELS(kDriver);
    auto& list = runtime::PluginList::instance();
    list.load_modules();
    const auto* found = list.find(GetParam());
    int32_t devices = 0;
    char message[RC_PLUGIN_MESSAGE_BYTES] = "";
    if (found == nullptr ||
        found->table.device_count(&devices, message) != RC_OK || devices < 1) {
      rc_backend* none = nullptr;
      EXPECT_NE(rc_backend_open(GetParam(), nullptr, &none), RC_OK);
      GTEST_SKIP() << rc_error_message();
    }
    injector_ = &inject_faults_into(found->table);
    injector_->arm(0, RC_OK, false);
    const Walk walk;
    ASSERT_FALSE(walk.failed()) << rc_error_message();
    text_ = walk.text();
    calls_ = injector_->calls;
    bystander_model_ = load_model((bystander_ = open_backend("cpu")).get());
    bystander_session_ = create_session(bystander_model_.get());
    bystander_text_ = test::generate(bystander_session_.get());
  }

  // Fails the n-th call for n in growing steps from `first` on, each twice the
  // walk: once with the fault, once after it.
  void fail_everywhere(rc_status status, int64_t first) {
    for (int64_t n = first; n <= calls_; n += 1 + n / thinning_) {
      SCOPED_TRACE(testing::Message() << "call " << n << " of " << calls_);
      injector_->arm(n, status, false);
      {
        const Walk walk;
        EXPECT_TRUE(walk.failed() || !injector_->happened ||
                    walk.text() == text_)
            << injector_->where.load();
      }
      ASSERT_EQ(test::generate(bystander_session_.get()), bystander_text_);
      injector_->arm(0, RC_OK, false);
      const Walk again;
      ASSERT_FALSE(again.failed()) << rc_error_message();
      ASSERT_EQ(again.text(), text_);
    }
  }

  // GPU backends take long to compile programs, so they get fewer faults, and
  // each kind of fault others.
  const bool is_slow_ = std::strcmp(GetParam(), "opencl") == 0 ||
                        std::strcmp(GetParam(), "vulkan") == 0;
  const int64_t thinning_ = !is_slow_ ? 20 : is_full_set() ? 2 : 1;
  static constexpr int64_t kTimeLimitMs = 200;
  Injector* injector_ = nullptr;
  std::string text_;
  int64_t calls_ = 0;
  Backend bystander_;
  Model bystander_model_;
  Session bystander_session_;
  std::string bystander_text_;
};

TEST_P(Faults, DeviceErrorsAffectOnlyTheirCaller) {
  fail_everywhere(RC_E_DEVICE, 1);
}
TEST_P(Faults, LostDeviceAffectsOnlyItsCaller) {
  fail_everywhere(RC_E_DEVICE_LOST, 3);
}
TEST_P(Faults, FullDeviceAffectsOnlyItsCaller) {
  if (is_slow_) RC_TEST_LABELS(kFull);
  fail_everywhere(RC_E_DEVICE_MEMORY, 2);
}
TEST_P(Faults, ExhaustedHostMemoryAffectsOnlyItsCaller) {
  if (is_slow_) RC_TEST_LABELS(kFull);
  fail_everywhere(RC_E_OUT_OF_MEMORY, 1);
}
TEST_P(Faults, UnknownStatusAffectsOnlyItsCaller) {
  if (is_slow_) RC_TEST_LABELS(kFull);
  fail_everywhere(static_cast<rc_status>(-12345), 3);
}

// Every hanging run costs its time limit, so there are few. (A slow device may
// need longer for a run that is none of them: then that is the failure.)
TEST_P(Faults, HangingRunAffectsOnlyItsCaller) {
  for (const int64_t n : {calls_ * 3 / 4, int64_t{1}, calls_ - 1}) {
    if (is_slow_ && n != calls_ * 3 / 4 && !is_full_set()) continue;
    injector_->arm(n, RC_OK, true);
    {
      const Walk walk(kTimeLimitMs);
      EXPECT_TRUE(walk.failed() || !injector_->happened);
    }
    ASSERT_EQ(test::generate(bystander_session_.get()), bystander_text_);
    injector_->arm(0, RC_OK, false);
    const Walk again;
    ASSERT_FALSE(again.failed()) << rc_error_message();
    ASSERT_EQ(again.text(), text_);
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, Faults,
                         testing::Values("cpu", "reference", "blas", "opencl",
                                         "vulkan"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace rc::test
