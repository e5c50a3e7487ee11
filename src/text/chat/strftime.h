// strftime() of Python in the C locale.
#pragma once

#include "text/chat/containers.h"
#include "text/chat/render.h"

namespace rc::text::chat {

// The format with its directives ("%Y-%m-%d") replaced. Throws Fault if the
// time is none.
Value format_time(Budget* budget, const Text& format, const LocalTime& time);

}  // namespace rc::text::chat
