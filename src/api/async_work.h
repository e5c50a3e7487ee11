// Work on a thread that waits for some (base/work_threads.h), whose end is
// reported on a loop: exactly once, also if it is cancelled, unless the loop
// was abandoned.
#pragma once

#include <atomic>
#include <memory>

#include "engine/loop.h"
#include "runcible/base.h"

namespace rc::api {

// The thread owns it; then the loop does, as the delivery of its end, so that
// telling the end needs no memory.
class AsyncWork : public engine::Delivery {
 public:
  ~AsyncWork() override;

  // Begins. Throws RC_E_OUT_OF_MEMORY if the thread does not start.
  static void start(std::unique_ptr<AsyncWork> work);

  void run() final;

 protected:
  // `name` is the work in messages, "loading", and `function` that of the C ABI
  // whose callback deliver() calls. Throws RC_E_CLOSED.
  AsyncWork(std::shared_ptr<engine::Loop> loop, const char* name,
            const char* function);

  // Whether it should end with RC_E_CANCELLED.
  bool stopped() const { return stop_->wanted.load(); }
  // On the thread; what it throws is the end. A callback in it may end the
  // thread.
  virtual void work() = 0;
  // On the loop's thread.
  virtual void deliver(rc_status status, const char* message) = 0;

 private:
  struct Stop final : engine::InFlight {
    void cancel() noexcept override { wanted.store(true); }
    std::atomic<bool> wanted{false};
  };

  void work_guarded();

  const std::shared_ptr<engine::Loop> loop_;
  const std::shared_ptr<Stop> stop_;
  const char* const name_;
  const char* const function_;
  bool entered_ = false;
  rc_status status_ = RC_OK;
  char message_[1024] = "";
};

}  // namespace rc::api
