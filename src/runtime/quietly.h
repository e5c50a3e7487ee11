// Calls of plugins that may not fail.
#pragma once

#include "base/log.h"

namespace rc::runtime {

// For destructors, which call third-party code that may throw all the same;
// `doing` is what it was doing then.
template <class Function>
void quietly(const char* doing, Function function) noexcept {
  try {
    function();
  } catch (...) {
    log(RC_LOG_ERROR, "a plugin threw an exception while ", doing);
  }
}

}  // namespace rc::runtime
