// Callbacks that do not return: exceptions, and threads that end in them.
#include <pthread.h>
#include <uv.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "api_util.h"

namespace rc::test {
namespace {

// The ways in which a callback ends.
enum class Way { kException, kNumber, kThreadEnd };

void leave(Way way) {
  switch (way) {
    case Way::kException:
      throw std::runtime_error("the test throws");
    case Way::kNumber:
      throw 7;
    case Way::kThreadEnd:
      pthread_exit(nullptr);
  }
}

const char* log_text_of(Way way) {
  switch (way) {
    case Way::kException:
      return "threw an exception: the test throws";
    case Way::kNumber:
      return "threw an exception that is no std::exception";
    case Way::kThreadEnd:
      return "ended its thread";
  }
  return "";
}

// Receives the events of a request, and leaves the callback of its second
// event, or of its end.
struct LeavingListener {
  Way way = Way::kException;
  bool leave_at_end = false;
  int pieces = 0;
  int ends = 0;
  rc_generate_report report = RC_GENERATE_REPORT_INIT;
  std::string message;
  std::atomic<bool> ended{false};

  static void receive(void* user, const rc_event* event) {
    auto* listener = static_cast<LeavingListener*>(user);
    EXPECT_EQ(listener->ends, 0) << "an event after the end";
    if (event->type == RC_EVENT_END) {
      ++listener->ends;
      listener->report = *event->report;
      listener->message = event->message;
      // The thread that waits for the end destroys `listener`.
      const bool leaves = listener->leave_at_end;
      const Way way = listener->way;
      listener->ended = true;
      listener->ended.notify_all();
      if (leaves) leave(way);
    } else if (++listener->pieces == 2 && !listener->leave_at_end) {
      leave(listener->way);
    }
  }

  void expect_failed() const {
    EXPECT_EQ(pieces, 2) << "an event after the failure";
    EXPECT_EQ(ends, 1);
    EXPECT_EQ(report.reason, RC_END_ERROR);
    EXPECT_STREQ(rc_status_name(report.status), "RC_E_INTERNAL");
    EXPECT_NE(message.find("event callback"), std::string::npos) << message;
    EXPECT_NE(message.find(log_text_of(way)), std::string::npos) << message;
  }
};

// Collects log messages during its lifetime.
class Logged {
 public:
  Logged() {
    rc_log_set(
        [](void* user, rc_log_level, const char* message) {
          auto* logged = static_cast<Logged*>(user);
          const std::lock_guard lock(logged->mutex_);
          logged->text_ += message;
        },
        this, RC_LOG_ERROR);
  }
  ~Logged() { rc_log_set(nullptr, nullptr, RC_LOG_NONE); }
  std::string text() {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  std::mutex mutex_;
  std::string text_;
};

class Callbacks : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override { new_loop(); }

  void new_loop() {
    rc_loop* loop = nullptr;
    ASSERT_OK(rc_loop_create(&loop));
    loop_.reset(loop);
  }

  // Starts a request that runs until it is cancelled.
  void start(rc_session* session, rc_loop* loop, LeavingListener* listener,
             rc_request** request = nullptr) {
    rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
    options.prompt = "hello";
    options.prompt_length = 5;
    options.max_tokens = listener->leave_at_end ? 4 : -1;
    options.ignore_eos = 1;
    ASSERT_OK(rc_generate_async(session, &options, loop,
                                LeavingListener::receive, listener, request));
  }

  // Dispatches on a separate thread, which the callback may end.
  static bool dispatch_until(rc_loop* loop, const LeavingListener& listener) {
    std::thread([&] {
      while (!listener.ended) {
        if (rc_loop_wait(loop, 60000) != RC_OK ||
            rc_loop_dispatch(loop, 0, nullptr) != RC_OK) {
          break;
        }
      }
    }).join();
    return listener.ended;
  }

  void expect_all_is_well() {
    const Session session = create_session(model_.get());
    EXPECT_EQ(generate(session.get()).empty(), false);
    LeavingListener listener;
    listener.leave_at_end = false;
    listener.pieces = 2;  // leaves no more
    rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
    options.max_tokens = 3;
    EXPECT_OK(rc_generate_async(session.get(), &options, nullptr,
                                LeavingListener::receive, &listener, nullptr));
    listener.ended.wait(false);
    EXPECT_EQ(listener.report.status == RC_E_INTERNAL, false);
  }

  Backend backend_ = open_backend();
  Model model_ = load_model(backend_.get());
  Session session_ = create_endless_session(model_.get());
  Loop loop_;
};

TEST_P(Callbacks, LeavingCallbackEndsItsRequestOnADispatchedLoop) {
  LeavingListener listener;
  listener.way = GetParam();
  rc_request* request = nullptr;
  start(session_.get(), loop_.get(), &listener, &request);
  const Request owned(request);
  // A thread that is ended leaves the rest to the next.
  for (int threads = 0; threads < 2 && !listener.ended; ++threads) {
    dispatch_until(loop_.get(), listener);
  }
  listener.expect_failed();
  EXPECT_OK(rc_request_wait(request, -1));
  EXPECT_OK(rc_loop_close(loop_.get()));
  EXPECT_FAILS(RC_E_CLOSED, rc_loop_wait(loop_.get(), -1));
  expect_all_is_well();
}

TEST_P(Callbacks, LeavingCallbackEndsOnlyItsRequestOnTheOwnLoop) {
  LeavingListener listener, other;
  listener.way = other.way = GetParam();
  other.leave_at_end = true;
  const Session second = create_endless_session(model_.get());
  start(session_.get(), nullptr, &listener);
  start(second.get(), nullptr, &other);
  listener.ended.wait(false);
  other.ended.wait(false);
  listener.expect_failed();
  EXPECT_EQ(other.report.status, RC_OK);
  EXPECT_GE(other.pieces, 4);
  expect_all_is_well();
}

TEST_P(Callbacks, LeavingEndCallbackIsNotCalledAgain) {
  Logged logged;
  LeavingListener listener;
  listener.way = GetParam();
  listener.leave_at_end = true;
  rc_request* request = nullptr;
  start(session_.get(), loop_.get(), &listener, &request);
  EXPECT_TRUE(dispatch_until(loop_.get(), listener));
  EXPECT_EQ(listener.ends, 1);
  EXPECT_EQ(listener.report.status, RC_OK);
  EXPECT_NE(logged.text().find(log_text_of(GetParam())), std::string::npos)
      << logged.text();
  // Nothing is in flight any more.
  EXPECT_OK(rc_loop_close(loop_.get()));
  EXPECT_FAILS(RC_E_CLOSED, rc_loop_wait(loop_.get(), -1));
  rc_request_release(request);
  EXPECT_EQ(rc_request_cancel(request), RC_E_INVALID_ARGUMENT);
  expect_all_is_well();
}

TEST_P(Callbacks, LeavingCallbackEndsItsRequestOnALibuvLoop) {
  LeavingListener listener;
  listener.way = GetParam();
  // Such a loop is lost with its thread.
  auto* uv = new uv_loop_t;
  ASSERT_EQ(uv_loop_init(uv), 0);
  rc_loop* loop = nullptr;
  rc_request* request = nullptr;
  std::thread([&] {
    ASSERT_OK(rc_loop_uv(uv, &loop));
    start(session_.get(), loop, &listener, &request);
    EXPECT_EQ(uv_run(uv, UV_RUN_DEFAULT), 0);
    rc_loop_release(loop);
    EXPECT_EQ(uv_run(uv, UV_RUN_DEFAULT), 0);
    EXPECT_EQ(uv_loop_close(uv), 0);
    delete uv;
  }).join();
  EXPECT_OK(rc_request_wait(request, -1));
  if (GetParam() == Way::kThreadEnd) {
    EXPECT_EQ(listener.pieces, 2);
    static std::vector<uv_loop_t*> lost;  // for leak checkers
    lost.push_back(uv);
  } else {
    listener.expect_failed();
  }
  rc_request_release(request);
  expect_all_is_well();
}

// Loads with a progress callback that leaves.
struct Loading {
  explicit Loading(Way how) : way(how) {}

  const Way way;
  std::atomic<bool> ended{false};
  rc_status status = RC_OK;
  std::string message;
  bool leave_at_end = false;

  rc_model_options options() {
    rc_model_options options = RC_MODEL_OPTIONS_INIT;
    options.context_length = 37;  // no other test's
    options.progress_user = this;
    options.progress = [](void* user, double) -> int32_t {
      auto* loading = static_cast<Loading*>(user);
      if (!loading->leave_at_end) leave(loading->way);
      return 0;
    };
    return options;
  }
  static void loaded(void* user, rc_status status, const char* message,
                     rc_model* model) {
    auto* loading = static_cast<Loading*>(user);
    loading->status = status;
    loading->message = message;
    rc_model_release(model);
    const bool leaves = loading->leave_at_end;
    const Way way = loading->way;
    loading->ended = true;
    loading->ended.notify_all();
    if (leaves) leave(way);
  }
};

TEST_P(Callbacks, LeavingProgressCallbackEndsLoading) {
  Loading loading(GetParam());
  rc_model_options options = loading.options();
  bool returned = false;
  rc_model* model = nullptr;
  std::thread([&] {
    loading.status =
        rc_model_load(backend_.get(), model_path().c_str(), &options, &model);
    loading.message = rc_error_message();
    returned = true;
  }).join();
  EXPECT_EQ(returned, GetParam() != Way::kThreadEnd);
  EXPECT_EQ(model, nullptr);
  if (returned) {
    EXPECT_STREQ(rc_status_name(loading.status), "RC_E_INTERNAL");
    EXPECT_NE(loading.message.find("progress callback"), std::string::npos);
    EXPECT_NE(loading.message.find(log_text_of(GetParam())), std::string::npos);
  }
  // The failed load leaves no waiting threads.
  options.progress = nullptr;
  ASSERT_OK(
      rc_model_load(backend_.get(), model_path().c_str(), &options, &model));
  rc_model_release(model);
}

TEST_P(Callbacks, LeavingProgressCallbackEndsAsyncLoading) {
  Loading loading(GetParam());
  const rc_model_options options = loading.options();
  ASSERT_OK(rc_model_load_async(backend_.get(), model_path().c_str(), &options,
                                nullptr, Loading::loaded, &loading));
  loading.ended.wait(false);
  EXPECT_STREQ(rc_status_name(loading.status), "RC_E_INTERNAL");
  EXPECT_NE(loading.message.find("progress callback"), std::string::npos)
      << loading.message;
  expect_all_is_well();
}

TEST_P(Callbacks, LeavingLoadCallbackIsLogged) {
  Logged logged;
  Loading loading(GetParam());
  loading.leave_at_end = true;
  const rc_model_options options = loading.options();
  ASSERT_OK(rc_model_load_async(backend_.get(), model_path().c_str(), &options,
                                nullptr, Loading::loaded, &loading));
  loading.ended.wait(false);
  EXPECT_EQ(loading.status, RC_OK);
  expect_all_is_well();
  EXPECT_NE(logged.text().find("rc_model_load_async"), std::string::npos);
  EXPECT_NE(logged.text().find(log_text_of(GetParam())), std::string::npos);
}

TEST(LogCallback, MayThrow) {
  std::atomic<int> calls = 0;
  rc_log_set(
      [](void* user, rc_log_level, const char*) {
        ++*static_cast<std::atomic<int>*>(user);
        throw 7;
      },
      &calls, RC_LOG_DEBUG);
  {
    const Backend backend = open_backend();
    const Model model = load_model(backend.get());
    const Session session = create_session(model.get());
    EXPECT_NE(generate(session.get()), "");
    // A model that does not fit its context causes a log message.
    rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
    options.memory_limit = 1;
    rc_backend* limited = nullptr;
    ASSERT_OK(rc_backend_open("reference,cpu", &options, &limited));
    const Backend owned(limited);
    rc_model* loaded = nullptr;
    static_cast<void>(
        rc_model_load(limited, model_path().c_str(), nullptr, &loaded));
    rc_model_release(loaded);
  }
  rc_log_set(nullptr, nullptr, RC_LOG_NONE);
  EXPECT_GT(calls, 0);
}

INSTANTIATE_TEST_SUITE_P(Ways, Callbacks,
                         testing::Values(Way::kException, Way::kNumber,
                                         Way::kThreadEnd),
                         [](const auto& info) {
                           switch (info.param) {
                             case Way::kException:
                               return "Exception";
                             case Way::kNumber:
                               return "Number";
                             case Way::kThreadEnd:
                               return "ThreadEnd";
                           }
                           return "";
                         });

}  // namespace
}  // namespace rc::test
