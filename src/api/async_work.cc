#include "api/async_work.h"

#include <cstdio>

#include "api/guard.h"
#include "base/callback.h"
#include "base/log.h"
#include "base/threads.h"
#include "base/work_threads.h"
#include "engine/turns.h"

namespace rc::api {

AsyncWork::AsyncWork(std::shared_ptr<engine::Loop> loop, const char* name,
                     const char* function)
    : loop_(std::move(loop)),
      stop_(std::make_shared<Stop>()),
      name_(name),
      function_(function) {
  loop_->enter(stop_);
  entered_ = true;
}

AsyncWork::~AsyncWork() {
  // Not delivered: the loop was abandoned, or the thread did not start.
  if (entered_) loop_->leave(stop_.get());
}

// The progress callback may end the thread.
void AsyncWork::work_guarded() {
  status_ = RC_E_INTERNAL;
  std::snprintf(message_, sizeof message_,
                "the progress callback ended the %s thread; it has to return",
                name_);
  status_ = guard([this] { work(); });
  std::snprintf(message_, sizeof message_, "%s",
                status_ == RC_OK ? "" : last_error_message());
}

void AsyncWork::run() {
  char name[96];
  std::snprintf(name, sizeof name, "the callback of %s", function_);
  call_out(
      name, [this] { deliver(status_, message_); },
      [](const char* message) { log(RC_LOG_ERROR, message); });
  loop_->leave(stop_.get());
  entered_ = false;
}

void AsyncWork::start(std::unique_ptr<AsyncWork> work) {
  // A raw pointer, for what did not start leaves `work` alone.
  const auto run = [under_way = work.get()] {
    struct Delivering {
      std::unique_ptr<AsyncWork> work;
      ~Delivering() {
        const std::shared_ptr<engine::Loop> loop = work->loop_;
        loop->post(std::move(work));
      }
    } const delivering{std::unique_ptr<AsyncWork>(under_way)};
    delivering.work->work_guarded();
  };
  if constexpr (!kThreads) {
    engine::Turns::add_work(run);
    static_cast<void>(work.release());
    return;
  }
  run_on_work_thread(run);
  static_cast<void>(work.release());  // the thread's now
}

}  // namespace rc::api
