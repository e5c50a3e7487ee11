// Starting what reports through a request.
#pragma once

#include "api/request.h"

namespace rc::api {

// Where events go.
struct EventTarget {
  rc_loop* loop;
  rc_event_callback callback;
  void* user;
};

// Sets *request to NULL, and throws if events could not be delivered.
void check_event_target(const EventTarget& target, rc_request** request);

// Starts a request on an account. Throws RC_E_CLOSED, RC_E_QUOTA and what
// `generate` throws.
void start_request(const std::shared_ptr<HandleAccount>& account,
                   const rc_request::Generate& generate,
                   const EventTarget& target, rc_request** request);

}  // namespace rc::api
