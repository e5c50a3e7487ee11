#include "api/start_request.h"

#include "api/guard.h"
#include "api/loop.h"

namespace rc::api {

void check_event_target(const EventTarget& target, rc_request** request) {
  if (request != nullptr) *request = nullptr;
  if (target.callback != nullptr) return;
  need_pointer(request, "request (there is no callback)");
  if (target.loop != nullptr) {
    fail(RC_E_INVALID_ARGUMENT,
         "loop: given without a callback; events that are pulled have no loop");
  }
}

void start_request(const std::shared_ptr<HandleAccount>& account,
                   const rc_request::Generate& generate,
                   const EventTarget& target, rc_request** request) {
  const auto started = std::make_shared<rc_request>(
      account, target.callback == nullptr ? nullptr : loop_or_own(target.loop),
      target.callback, target.user);
  rc_request::start(started, generate, request);
}

}  // namespace rc::api
