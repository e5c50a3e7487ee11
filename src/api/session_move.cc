// Sessions that move to other models, at once or on a thread.
#include <memory>
#include <utility>

#include "api/async_work.h"
#include "api/guard.h"
#include "api/loop.h"
#include "api/session.h"

namespace rc::api {
namespace {

// The arguments, kept for as long as the move lasts.
struct SessionToMove {
  SessionToMove(rc_session* handle, rc_model* model)
      : place(need(handle, "session").place),
        session(handle->session),
        target(need(model, "model").loaded) {}

  const std::shared_ptr<SessionPlace> place;
  const std::shared_ptr<engine::Session> session;
  const std::shared_ptr<const LoadedModel> target;
};

class AsyncSessionMove final : public AsyncWork {
 public:
  AsyncSessionMove(SessionToMove move, std::shared_ptr<engine::Loop> loop,
                   rc_session_move_callback callback, void* user)
      : AsyncWork(std::move(loop), "moving", "rc_session_move_async"),
        move_(std::move(move)),
        callback_(callback),
        user_(user) {}

 private:
  void work() override {
    move_.place->move(*move_.session, move_.target,
                      [this] { return stopped(); });
  }

  void deliver(rc_status status, const char* message) override {
    callback_(user_, status, message);
  }

  const SessionToMove move_;
  const rc_session_move_callback callback_;
  void* const user_;
};

}  // namespace
}  // namespace rc::api

using rc::api::guard;

rc_status rc_session_move(rc_session* session, rc_model* model) {
  return guard([&] {
    const rc::api::SessionToMove move(session, model);
    move.place->move(*move.session, move.target, [] { return false; });
  });
}

rc_status rc_session_move_async(rc_session* session, rc_model* model,
                                rc_loop* loop,
                                rc_session_move_callback callback, void* user) {
  return guard([&] {
    rc::api::SessionToMove move(session, model);
    rc::api::need_pointer(reinterpret_cast<const void*>(callback), "callback");
    rc::api::AsyncWork::start(std::make_unique<rc::api::AsyncSessionMove>(
        std::move(move), rc::api::loop_or_own(loop), callback, user));
  });
}
