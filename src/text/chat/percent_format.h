// Formatting of strings by '%', as in '%s: %d' % (name, number).
#pragma once

#include "text/chat/containers.h"
#include "text/chat/value.h"

namespace rc::text::chat {

// format % arguments: a tuple, a dict for %(name)s, or a single value.
Value percent_format(Budget* budget, const Value& format,
                     const Value& arguments);

}  // namespace rc::text::chat
