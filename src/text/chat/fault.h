// An error in a template whose place is not yet known: code that knows the
// position makes an rc::Error of it.
#pragma once

#include <string>
#include <utility>

#include "base/error.h"

namespace rc::text::chat {

struct Fault {
  rc_status status;
  std::string message;
};

// A mistake of the template, or of values that it can't deal with.
template <class... Parts>
[[noreturn]] void fault(const Parts&... parts) {
  throw Fault{RC_E_FORMAT, cat(parts...)};
}

// More than a limit or than this library can do.
template <class... Parts>
[[noreturn]] void fault_of_limit(const Parts&... parts) {
  throw Fault{RC_E_UNSUPPORTED, cat(parts...)};
}

}  // namespace rc::text::chat
