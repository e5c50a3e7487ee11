// Telling a caller's progress callback.
#pragma once

#include <cstdio>

#include "base/callback.h"
#include "base/error.h"
#include "runcible/model.h"

namespace rc::api {

// Whether to go on: calls `cancels`, which calls the callback and says whether
// it wants an end. Throws RC_E_INTERNAL if the callback threw.
template <class Cancels>
bool goes_on(Cancels&& cancels) {
  bool cancel = false;
  char failure[kCallbackMessage] = "";
  call_out(
      "the progress callback", [&] { cancel = cancels(); },
      [&](const char* message) {
        std::snprintf(failure, sizeof failure, "%s", message);
      });
  if (*failure != '\0') throw Error(RC_E_INTERNAL, failure);
  return !cancel;
}

// The same of a callback that may be NULL, which always goes on.
inline bool report_progress(rc_progress_callback progress, void* user,
                            double fraction) {
  return progress == nullptr ||
         goes_on([&] { return progress(user, fraction) != 0; });
}

}  // namespace rc::api
