// The present time of a template.
#pragma once

#include <string_view>

#include "text/chat/render.h"

namespace rc::text::chat {

// By the system's clock and time zone.
LocalTime local_time_now();

// Parses "2024-07-26" (its midnight) or "2024-07-26T14:05:09" (ISO 8601).
// Throws RC_E_INVALID_ARGUMENT with `name` for any other text and for invalid
// times.
LocalTime parse_local_time(std::string_view text, const char* name);

}  // namespace rc::text::chat
