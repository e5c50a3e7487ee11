// Requests and loops through the C ABI: events, ends, releases, quotas.
#include <atomic>
#include <chrono>
#include <thread>

#include "api_util.h"

namespace rc::test {
namespace {

struct ReceivedEvents {
  std::string text;
  std::vector<int32_t> tokens;
  std::vector<float> logprobs;
  std::vector<int32_t> top_tokens;
  std::vector<float> top_logprobs;
  int ends = 0;
  rc_generate_report report = RC_GENERATE_REPORT_INIT;
  std::string message;
  std::thread::id thread;

  static void receive(void* user, const rc_event* event) {
    auto* received = static_cast<ReceivedEvents*>(user);
    EXPECT_EQ(received->ends, 0) << "an event after the end";
    received->thread = std::this_thread::get_id();
    if (event->type == RC_EVENT_END) {
      received->report = *event->report;
      received->message = event->message;
      ++received->ends;
      return;
    }
    received->text.append(event->text, event->text_length);
    received->tokens.insert(received->tokens.end(), event->tokens,
                            event->tokens + event->token_count);
    if (event->logprobs != nullptr) {
      received->logprobs.insert(received->logprobs.end(), event->logprobs,
                                event->logprobs + event->token_count);
      const size_t top = event->token_count * event->top_count;
      received->top_tokens.insert(received->top_tokens.end(), event->top_tokens,
                                  event->top_tokens + top);
      received->top_logprobs.insert(received->top_logprobs.end(),
                                    event->top_logprobs,
                                    event->top_logprobs + top);
    }
  }
};

rc_generate_options some_options() {
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.prompt = "hello";
  options.prompt_length = 5;
  options.max_tokens = 8;
  options.seed = 3;
  options.ignore_eos = 1;
  return options;
}

class Requests : public testing::Test {
 protected:
  void SetUp() override {
    rc_loop* loop = nullptr;
    ASSERT_OK(rc_loop_create(&loop));
    loop_.reset(loop);
  }
  void dispatch_until_end(const ReceivedEvents& received) {
    while (received.ends == 0) {
      ASSERT_OK(rc_loop_wait(loop_.get(), 60000));
      ASSERT_OK(rc_loop_dispatch(loop_.get(), 0, nullptr));
    }
  }

  Backend backend_ = open_backend();
  Model model_ = load_model(backend_.get());
  Session session_ = create_session(model_.get());
  Loop loop_;
};

TEST_F(Requests, GiveTheSameTextOnALoopAndByPulling) {
  const std::string text = generate(session_.get());
  ASSERT_OK(rc_session_truncate(session_.get(), 0));
  ReceivedEvents received;
  const rc_generate_options options = some_options();
  ASSERT_OK(rc_generate_async(session_.get(), &options, loop_.get(),
                              ReceivedEvents::receive, &received, nullptr));
  EXPECT_EQ(received.ends, 0);
  dispatch_until_end(received);
  EXPECT_EQ(received.text, text);
  EXPECT_EQ(received.thread, std::this_thread::get_id());
  EXPECT_EQ(received.report.reason, RC_END_LENGTH);
  EXPECT_EQ(received.report.generated_tokens, 8);
  EXPECT_EQ(received.tokens.size(), 8u);
  EXPECT_EQ(received.message, "");
}

TEST_F(Requests, ReportLogprobs) {
  ReceivedEvents received;
  rc_generate_options options = some_options();
  options.logprobs = 3;
  options.temperature = 0;
  ASSERT_OK(rc_generate_async(session_.get(), &options, loop_.get(),
                              ReceivedEvents::receive, &received, nullptr));
  dispatch_until_end(received);
  ASSERT_EQ(received.logprobs.size(), received.tokens.size());
  ASSERT_EQ(received.top_tokens.size(), 3 * received.tokens.size());
  for (size_t i = 0; i < received.tokens.size(); ++i) {
    EXPECT_LE(received.logprobs[i], 0);
    // The most probable ones; the first of them was chosen.
    EXPECT_EQ(received.top_tokens[3 * i], received.tokens[i]);
    EXPECT_EQ(received.top_logprobs[3 * i], received.logprobs[i]);
    EXPECT_LE(received.top_logprobs[3 * i + 1], received.logprobs[i]);
  }
}

TEST_F(Requests, OutliveEveryHandle) {
  ReceivedEvents received;
  const rc_generate_options options = some_options();
  ASSERT_OK(rc_generate_async(session_.get(), &options, loop_.get(),
                              ReceivedEvents::receive, &received, nullptr));
  session_.reset();
  model_.reset();
  backend_.reset();
  dispatch_until_end(received);
  EXPECT_EQ(received.report.status, RC_OK);
}

TEST_F(Requests, CanBeReleasedFromTheirCallback) {
  struct Own {
    ReceivedEvents received;
    rc_request* request = nullptr;
    rc_session* session = nullptr;
    rc_loop* loop = nullptr;
  } own;
  own.session = session_.release();
  own.loop = loop_.get();
  const rc_generate_options options = some_options();
  ASSERT_OK(rc_generate_async(
      own.session, &options, own.loop,
      [](void* user, const rc_event* event) {
        auto* o = static_cast<Own*>(user);
        ReceivedEvents::receive(&o->received, event);
        if (event->type == RC_EVENT_END) {
          EXPECT_EQ(event->request, o->request);
          rc_request_release(o->request);
          rc_session_release(o->session);
          // Not the last reference: the handle is good during its events.
          EXPECT_OK(rc_request_cancel(event->request));
        }
      },
      &own, &own.request));
  model_.reset();
  backend_.reset();
  dispatch_until_end(own.received);
  EXPECT_EQ(rc_request_cancel(own.request), RC_E_INVALID_ARGUMENT);
}

TEST_F(Requests, CanStartFromAnEndEventWithAQuotaOfOne) {
  rc_backend_options limited = RC_BACKEND_OPTIONS_INIT;
  limited.max_requests = 1;
  rc_backend* opened = nullptr;
  ASSERT_OK(rc_backend_open("reference", &limited, &opened));
  const Backend backend(opened);
  const Model model = load_model(backend.get());
  const Session session = create_session(model.get());
  struct Chain {
    rc_session* session;
    rc_loop* loop;
    int left = 3;
    static void next(void* user, const rc_event* event) {
      auto* chain = static_cast<Chain*>(user);
      if (event->type != RC_EVENT_END || --chain->left == 0) return;
      const rc_generate_options options = some_options();
      EXPECT_OK(rc_generate_async(chain->session, &options, chain->loop, next,
                                  user, nullptr));
    }
  } chain{session.get(), loop_.get()};
  {
    const Session endless = create_endless_session(model.get());
    rc_generate_options options = some_options();
    options.max_tokens = -1;
    rc_request *first = nullptr, *second = nullptr;
    ASSERT_OK(rc_generate_async(endless.get(), &options, nullptr, nullptr,
                                nullptr, &first));
    const Request owned(first);
    EXPECT_FAILS(RC_E_QUOTA,
                 rc_generate_async(session.get(), &options, nullptr, nullptr,
                                   nullptr, &second),
                 "max_requests", "1");
    EXPECT_EQ(second, nullptr);
    EXPECT_OK(rc_request_cancel(first));
    EXPECT_OK(rc_request_wait(first, -1));
  }
  const rc_generate_options options = some_options();
  ASSERT_OK(rc_generate_async(session.get(), &options, loop_.get(), Chain::next,
                              &chain, nullptr));
  while (chain.left > 0) {
    ASSERT_OK(rc_loop_wait(loop_.get(), 60000));
    ASSERT_OK(rc_loop_dispatch(loop_.get(), 0, nullptr));
  }
  rc_backend_usage_report usage = RC_BACKEND_USAGE_REPORT_INIT;
  EXPECT_OK(rc_backend_usage(backend.get(), &usage));
  EXPECT_EQ(usage.requests, 4u);
  EXPECT_GE(usage.generated_tokens, 24u);
}

TEST_F(Requests, RunOnTheOwnLoopOfTheLibrary) {
  struct Own {
    ReceivedEvents received;
    std::atomic<bool> ended{false};
  } own;
  const rc_generate_options options = some_options();
  ASSERT_OK(rc_generate_async(
      session_.get(), &options, nullptr,
      [](void* user, const rc_event* event) {
        auto* o = static_cast<Own*>(user);
        ReceivedEvents::receive(&o->received, event);
        if (event->type == RC_EVENT_END) {
          o->ended = true;
          o->ended.notify_one();
        }
      },
      &own, nullptr));
  own.ended.wait(false);
  EXPECT_EQ(own.received.ends, 1);
  EXPECT_NE(own.received.thread, std::this_thread::get_id());
}

TEST_F(Requests, CanBeCancelledFromManyThreads) {
  const Session endless = create_endless_session(model_.get());
  rc_generate_options options = some_options();
  options.max_tokens = -1;
  rc_request* request = nullptr;
  ASSERT_OK(rc_generate_async(endless.get(), &options, nullptr, nullptr,
                              nullptr, &request));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { EXPECT_OK(rc_request_cancel(request)); });
  }
  for (std::thread& thread : threads) thread.join();
  rc_event event = RC_EVENT_INIT;
  do {
    ASSERT_OK(rc_request_next(request, -1, &event));
  } while (event.type != RC_EVENT_END);
  EXPECT_EQ(event.report->reason, RC_END_CANCELLED);
  EXPECT_EQ(event.report->status, RC_E_CANCELLED);
  rc_request_release(request);
}

// Their events could not be received any more.
TEST_F(Requests, WithoutACallbackEndWithTheirLastHandle) {
  const Session endless = create_endless_session(model_.get());
  rc_generate_options options = some_options();
  options.max_tokens = -1;
  rc_request* request = nullptr;
  ASSERT_OK(rc_generate_async(endless.get(), &options, nullptr, nullptr,
                              nullptr, &request));
  EXPECT_EQ(rc_session_truncate(endless.get(), 0), RC_E_BUSY);
  rc_request_release(request);
  rc_status status = RC_E_BUSY;
  for (int i = 0; i < 6000 && status == RC_E_BUSY; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    status = rc_session_truncate(endless.get(), 0);
  }
  EXPECT_OK(status);
}

// With one they go on.
TEST_F(Requests, WithACallbackOutliveTheirHandle) {
  ReceivedEvents received;
  const rc_generate_options options = some_options();
  rc_request* request = nullptr;
  ASSERT_OK(rc_generate_async(session_.get(), &options, loop_.get(),
                              ReceivedEvents::receive, &received, &request));
  rc_request_release(request);
  dispatch_until_end(received);
  EXPECT_EQ(received.report.reason, RC_END_LENGTH);
  EXPECT_EQ(received.report.generated_tokens, 8);
}

TEST_F(Requests, EndAtTheirDeadline) {
  const Session endless = create_endless_session(model_.get());
  rc_generate_options options = some_options();
  options.max_tokens = -1;
  options.deadline_ms = 30;
  rc_generate_report report = RC_GENERATE_REPORT_INIT;
  // A busy machine may need longer for the first token.
  while (report.generated_tokens == 0) {
    char* text = nullptr;
    EXPECT_FAILS(RC_E_DEADLINE,
                 rc_generate(endless.get(), &options, &text, nullptr, &report));
    EXPECT_EQ(report.reason, RC_END_DEADLINE);
    EXPECT_NE(text, nullptr);
    rc_free(text);
    options.deadline_ms *= 2;
    ASSERT_LT(options.deadline_ms, 600000);
  }
}

TEST_F(Requests, OnAClosedLoopAreRefused) {
  ASSERT_OK(rc_loop_close(loop_.get()));
  const rc_generate_options options = some_options();
  ReceivedEvents received;
  rc_request* request = nullptr;
  EXPECT_FAILS(RC_E_CLOSED,
               rc_generate_async(session_.get(), &options, loop_.get(),
                                 ReceivedEvents::receive, &received, &request));
  EXPECT_EQ(request, nullptr);
  // The refused one left nothing behind.
  EXPECT_OK(rc_session_truncate(session_.get(), 0));
}

TEST_F(Requests, FillOlderEventStructs) {
  const rc_generate_options options = some_options();
  rc_request* request = nullptr;
  ASSERT_OK(rc_generate_async(session_.get(), &options, nullptr, nullptr,
                              nullptr, &request));
  const Request owned(request);
  rc_event event = RC_EVENT_INIT;
  // As if there were no report yet.
  const rc_generate_report untouched = RC_GENERATE_REPORT_INIT;
  event.struct_size = offsetof(rc_event, report);
  event.report = &untouched;
  do {
    ASSERT_OK(rc_request_next(request, -1, &event));
  } while (event.type != RC_EVENT_END);
  EXPECT_STREQ(event.message, "");
  EXPECT_EQ(event.report, &untouched);
  event.struct_size = 0;
  EXPECT_EQ(rc_request_next(request, 0, &event), RC_E_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace rc::test
