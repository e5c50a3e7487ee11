// A loop: where deliveries run. Any thread posts, the loop's thread runs them.
//
// Posting is lock-free and wakes the loop at most once per batch of deliveries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/wakeup.h"

struct uv_loop_s;

namespace rc::engine {

// Something to be done on the loop's thread, once.
class Delivery {
 public:
  virtual ~Delivery() = default;
  // Does not throw; but the thread may be ended in it (base/callback.h), and is
  // then unwound through the loop.
  virtual void run() = 0;

 private:
  friend class DeliveryQueue;
  Delivery* next_ = nullptr;
};

// Work in flight on a loop that can be asked to end when the loop closes.
class InFlight {
 public:
  virtual ~InFlight() = default;
  virtual void cancel() noexcept = 0;
};

class Loop {
 public:
  static std::shared_ptr<Loop> on_uv(struct uv_loop_s* uv_loop);
  // For an event loop of another kind, which watches wait_handle().
  static std::shared_ptr<Loop> watched();
  // The library's own loop and its thread, made at the first call.
  static std::shared_ptr<Loop> own();

  virtual ~Loop() = default;

  // Announces something that will post until leave(); keeps a libuv loop
  // alive. Throws RC_E_CLOSED. The loop holds only a weak reference.
  virtual void enter(const std::shared_ptr<InFlight>& in_flight) = 0;
  // On the loop's thread, at the end of the last delivery.
  virtual void leave(const InFlight* in_flight) noexcept = 0;
  // Only between enter and leave. What a loop cannot deliver any more
  // (abandon, end of the process) is dropped.
  virtual void post(std::unique_ptr<Delivery> delivery) noexcept = 0;
  virtual void close() noexcept = 0;
  // The last handle of the loop is gone; see rc_loop_release.
  virtual void abandon() noexcept = 0;

  // Of loops made by watched(); the others throw
  // RC_E_INVALID_ARGUMENT.
  virtual WaitHandle wait_handle() = 0;
  virtual size_t dispatch(size_t max) = 0;
  // Throws RC_E_TIMEOUT, RC_E_CLOSED.
  virtual void wait(int64_t timeout_ms) = 0;
};

}  // namespace rc::engine
