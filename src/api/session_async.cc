// Decoding a session without waiting for it.
#include <cstdio>
#include <memory>
#include <mutex>
#include <utility>

#include "api/guard.h"
#include "api/loop.h"
#include "api/session.h"
#include "base/callback.h"
#include "base/log.h"

namespace rc::api {
namespace {

class AsyncDecode final : public engine::DecodeListener,
                          public engine::InFlight,
                          public std::enable_shared_from_this<AsyncDecode> {
 public:
  AsyncDecode(std::shared_ptr<engine::Loop> loop,
              rc_session_decode_callback callback, void* user)
      : loop_(std::move(loop)),
        callback_(callback),
        user_(user),
        end_(std::make_unique<End>()) {}

  void start(engine::Session& session, bool all_logits) {
    loop_->enter(shared_from_this());
    try {
      const auto request = session.decode_later(all_logits, shared_from_this());
      const std::lock_guard lock(mutex_);
      // After the end it would keep the two alive through each other.
      if (end_ != nullptr) request_ = request;
    } catch (...) {
      loop_->leave(this);
      throw;
    }
  }

  void cancel() noexcept override {
    const std::lock_guard lock(mutex_);
    if (request_ != nullptr) request_->cancel();
  }

  void decoded(rc_status status, const char* message) noexcept override {
    std::unique_ptr<End> end;
    {
      const std::lock_guard lock(mutex_);
      end = std::move(end_);
      request_.reset();
    }
    end->set(shared_from_this(), status, message);
    loop_->post(std::move(end));
  }

 private:
  // Made early, so that the end takes no memory.
  class End final : public engine::Delivery {
   public:
    ~End() override {
      if (decode_ != nullptr) decode_->loop_->leave(decode_.get());
    }
    void set(std::shared_ptr<AsyncDecode> decode, rc_status status,
             const char* message) noexcept {
      decode_ = std::move(decode);
      status_ = status;
      std::snprintf(message_, sizeof message_, "%s", message);
    }
    void run() override {
      call_out(
          "the callback of rc_session_decode_async",
          [this] { decode_->callback_(decode_->user_, status_, message_); },
          [](const char* message) { log(RC_LOG_ERROR, message); });
    }

   private:
    std::shared_ptr<AsyncDecode> decode_;
    rc_status status_ = RC_OK;
    char message_[1024] = "";
  };

  const std::shared_ptr<engine::Loop> loop_;
  const rc_session_decode_callback callback_;
  void* const user_;

  std::mutex mutex_;
  std::unique_ptr<End> end_;
  std::shared_ptr<engine::Request> request_;
};

}  // namespace
}  // namespace rc::api

rc_status rc_session_decode_async(rc_session* session, uint32_t flags,
                                  rc_loop* loop,
                                  rc_session_decode_callback callback,
                                  void* user) {
  return rc::api::guard([&] {
    const rc_session& handle = rc::api::need(session, "session");
    const bool all_logits = rc::api::decodes_all_logits(flags);
    rc::api::need_pointer(reinterpret_cast<const void*>(callback), "callback");
    // The session may be released as soon as its loop runs.
    const std::shared_ptr<rc::engine::Session> held = handle.session;
    std::make_shared<rc::api::AsyncDecode>(rc::api::loop_or_own(loop), callback,
                                           user)
        ->start(*held, all_logits);
  });
}
