// Values of chat templates from JSON.
#pragma once

#include "base/json_value.h"
#include "text/chat/value.h"

namespace rc::text::chat {

// The value with all of its texts and numbers of the given origin, the keys of
// objects too. Numbers that neither 64 bits nor a double hold keep their digits
// and count as floats.
Value from_json(const JsonValue& json, Origin origin);

}  // namespace rc::text::chat
