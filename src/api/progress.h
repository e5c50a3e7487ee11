// Telling a caller's progress callback.
#pragma once

#include <cstdio>

#include "base/callback.h"
#include "base/error.h"
#include "runcible/model.h"

namespace rc::api {

// Whether to go on. NULL always does. Throws RC_E_INTERNAL if the callback
// threw.
inline bool report_progress(rc_progress_callback progress, void* user,
                            double fraction) {
  if (progress == nullptr) return true;
  bool cancel = false;
  char failure[kCallbackMessage] = "";
  call_out(
      "the progress callback", [&] { cancel = progress(user, fraction) != 0; },
      [&](const char* message) {
        std::snprintf(failure, sizeof failure, "%s", message);
      });
  if (*failure != '\0') throw Error(RC_E_INTERNAL, failure);
  return !cancel;
}

}  // namespace rc::api
