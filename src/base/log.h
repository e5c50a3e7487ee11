// Log messages of the library: to a callback, or nowhere, or to stderr if the
// environment variable RUNCIBLE_LOG asks for it (see rc_log_set).
//
// Any thread; never throws.
#pragma once

#include "base/error.h"
#include "runcible/base.h"

namespace rc {

// When it returns, the former callback is not running and will not be called
// again.
void set_log(rc_log_callback callback, void* user, rc_log_level level);

// Whether messages of the level go anywhere.
bool log_wanted(rc_log_level level) noexcept;

// One message; control characters become spaces. For plugins too.
void log_message(rc_log_level level, const char* message) noexcept;

// The parts, one after the other, if anybody wants them.
template <class... Parts>
void log(rc_log_level level, const Parts&... parts) noexcept {
  if (!log_wanted(level)) return;
  try {
    log_message(level, cat(parts...).c_str());
  } catch (...) {
    log_message(level, "a message was lost: out of memory");
  }
}

}  // namespace rc
