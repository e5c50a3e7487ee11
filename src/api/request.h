// A generation in flight: receives its events on the engine thread, and reports
// to the caller, either on a loop or when asked for the next event.
//
// An rc_request lives as long as a handle to it (the caller's references, and
// one that a request with a callback has itself until its end was delivered),
// an event on its way, or the engine needs it. Thread-safe.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "api/handle.h"
#include "api/handle_account.h"
#include "base/callback.h"
#include "engine/delivery_queue.h"
#include "engine/engine.h"
#include "engine/loop.h"
#include "runcible/generate.h"

struct rc_request final : rc::engine::Listener,
                          rc::engine::InFlight,
                          std::enable_shared_from_this<rc_request> {
  static constexpr rc::api::Kind kKind = rc::api::Kind::kRequest;

  // Without callback the loop is nullptr, and events wait to be pulled.
  rc_request(std::shared_ptr<rc::api::HandleAccount> account,
             std::shared_ptr<rc::engine::Loop> loop, rc_event_callback callback,
             void* user);
  ~rc_request() override;

  using Generate = std::function<std::shared_ptr<rc::engine::Request>(
      std::shared_ptr<rc::engine::Listener>)>;
  // Makes it a handle with the caller's reference, if wanted, and starts it.
  // Throws what `generate` throws; no event was delivered then.
  static void start(const std::shared_ptr<rc_request>& request,
                    const Generate& generate, rc_request** handle);
  // The last handle is gone.
  void forget() noexcept;

  void piece(rc::engine::Piece piece) override;
  void end(const rc_generate_report& report,
           const char* message) noexcept override;
  void cancel() noexcept override;

  // See rc_request_next and rc_request_wait; they throw.
  rc_event next(int64_t timeout_ms);
  void wait(int64_t timeout_ms);

 private:
  class Event;
  class PieceEvent;
  class EndEvent;

  void post(std::unique_ptr<Event> event) noexcept;
  void deliver(const rc_event& event);
  void leave_loop() noexcept;

  rc::api::HandleAccount::Slot slot_;
  const std::shared_ptr<rc::engine::Loop> loop_;
  const rc_event_callback callback_;
  void* const user_;
  std::unique_ptr<EndEvent> end_event_;  // made early: ending takes no memory

  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<rc_request> self_;  // while it is a handle
  std::shared_ptr<rc::engine::Request> generation_;
  bool cancelled_ = false;
  bool ended_ = false;

  // Of the loop's thread: why the callback failed; "" if it did not.
  char failure_[rc::kCallbackMessage] = "";

  // Of the thread that pulls.
  rc::engine::DeliveryQueue events_;
  std::unique_ptr<rc::engine::Delivery> current_;
  std::atomic<bool> pulling_{false};
  bool end_pulled_ = false;
};
