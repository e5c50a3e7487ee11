// Threads that are cancelled (pthread_cancel) while they are in the library:
// the call comes to its end first.
#include <pthread.h>

#include <atomic>
#include <functional>

#include "api_util.h"

namespace rc::test {
namespace {

// A thread that is cancelled before it calls the function, so that every point
// within where it could be ended would end it, and `release` is what the call
// waits for. True if the thread came out of the call and ended then.
bool outlives(const std::function<void()>& call,
              const std::function<void()>& release) {
  struct Run {
    const std::function<void()>& call;
    std::atomic<int> stage{0};
    static void* run(void* data) {
      auto* run = static_cast<Run*>(data);
      int before = 0;
      pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
      run->stage = 1;
      run->stage.notify_all();
      run->stage.wait(1);
      pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before);
      run->call();
      run->stage = 3;
      pthread_testcancel();
      run->stage = 4;
      return nullptr;
    }
  } run{call};
  pthread_t thread;
  if (pthread_create(&thread, nullptr, Run::run, &run) != 0) return false;
  run.stage.wait(0);
  pthread_cancel(thread);
  run.stage = 2;
  run.stage.notify_all();
  release();
  void* result = nullptr;
  pthread_join(thread, &result);
  return run.stage == 3 && result == PTHREAD_CANCELED;
}

class ThreadCancel : public testing::Test {
 protected:
  rc_generate_options options() const {
    rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
    options.prompt = "hello";
    options.prompt_length = 5;
    options.max_tokens = 20;
    options.ignore_eos = 1;
    return options;
  }
  Backend backend_ = open_backend();
  Model model_ = load_model(backend_.get());
  Session session_ = create_endless_session(model_.get());
};

TEST_F(ThreadCancel, SurvivesGenerate) {
  rc_status status = RC_E_INTERNAL;
  EXPECT_TRUE(outlives(
      [&] {
        const rc_generate_options some = options();
        char* text = nullptr;
        status = rc_generate(session_.get(), &some, &text, nullptr, nullptr);
        rc_free(text);
      },
      [] {}));
  EXPECT_EQ(status, RC_OK);
}

TEST_F(ThreadCancel, SurvivesRequestWaitAndRequestNext) {
  rc_generate_options some = options();
  some.max_tokens = -1;
  rc_request* request = nullptr;
  ASSERT_OK(rc_generate_async(session_.get(), &some, nullptr, nullptr, nullptr,
                              &request));
  const Request owned(request);
  rc_status status = RC_E_INTERNAL;
  EXPECT_TRUE(outlives([&] { status = rc_request_wait(request, -1); },
                       [&] { EXPECT_OK(rc_request_cancel(request)); }));
  EXPECT_EQ(status, RC_OK);
  rc_event event = RC_EVENT_INIT;
  while (event.type != RC_EVENT_END) {
    EXPECT_OK(rc_request_next(request, -1, &event));
  }

  const Session second = create_endless_session(model_.get());
  rc_request* pulled = nullptr;
  ASSERT_OK(rc_generate_async(second.get(), &some, nullptr, nullptr, nullptr,
                              &pulled));
  const Request owned_too(pulled);
  EXPECT_TRUE(outlives(
      [&] {
        rc_event last = RC_EVENT_INIT;
        while (last.type != RC_EVENT_END) {
          status = rc_request_next(pulled, -1, &last);
        }
      },
      [&] { EXPECT_OK(rc_request_cancel(pulled)); }));
  EXPECT_EQ(status, RC_OK);
}

TEST_F(ThreadCancel, SurvivesLoopWaitAndDispatch) {
  rc_loop* loop = nullptr;
  ASSERT_OK(rc_loop_create(&loop));
  const Loop owned(loop);
  rc_status status = RC_E_INTERNAL;
  int ends = 0;
  const auto receive = [](void* user, const rc_event* event) {
    pthread_testcancel();  // in a callback one is in the library
    if (event->type == RC_EVENT_END) ++*static_cast<int*>(user);
  };
  EXPECT_TRUE(outlives(
      [&] {
        do {
          status = rc_loop_wait(loop, -1);
          if (status == RC_OK) status = rc_loop_dispatch(loop, 0, nullptr);
        } while (status == RC_OK && ends == 0);
      },
      [&] {
        const rc_generate_options some = options();
        EXPECT_OK(rc_generate_async(session_.get(), &some, loop, receive, &ends,
                                    nullptr));
      }));
  EXPECT_EQ(status, RC_OK);
  EXPECT_EQ(ends, 1);
}

TEST_F(ThreadCancel, SurvivesModelLoadAndConcurrentLoads) {
  struct Gate {
    std::atomic<bool> reached{false};
    std::atomic<bool> open{false};
  } gate;
  rc_model_options slow = RC_MODEL_OPTIONS_INIT;
  slow.context_length = 41;  // no other test's
  slow.progress_user = &gate;
  slow.progress = [](void* user, double) -> int32_t {
    auto* it = static_cast<Gate*>(user);
    it->reached = true;
    it->reached.notify_all();
    pthread_testcancel();
    it->open.wait(false);
    return 0;
  };
  rc_status status = RC_E_INTERNAL, other = RC_E_INTERNAL;
  const auto load = [&](const rc_model_options& with, rc_status* result) {
    rc_model* model = nullptr;
    *result =
        rc_model_load(backend_.get(), model_path().c_str(), &with, &model);
    rc_model_release(model);
  };
  EXPECT_TRUE(outlives([&] { load(slow, &status); },
                       [&] {
                         gate.reached.wait(false);
                         rc_model_options same = slow;
                         same.progress = nullptr;
                         EXPECT_TRUE(outlives([&] { load(same, &other); },
                                              [&] {
                                                gate.open = true;
                                                gate.open.notify_all();
                                              }));
                       }));
  EXPECT_EQ(status, RC_OK);
  EXPECT_EQ(other, RC_OK);
}

// The last release of a model waits for its threads.
TEST_F(ThreadCancel, SurvivesReleases) {
  Backend backend = open_backend("cpu");
  Model model = load_model(backend.get());
  Session session = create_session(model.get());
  EXPECT_NE(generate(session.get()), "");
  EXPECT_TRUE(outlives(
      [&] {
        session.reset();
        model.reset();
        backend.reset();
      },
      [] {}));
}

}  // namespace
}  // namespace rc::test
