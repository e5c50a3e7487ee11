// Values of chat templates from JSON.
#pragma once

#include "base/json_value.h"
#include "text/chat/value.h"

namespace rc::text::chat {

// The value with all of its texts and numbers of the given origin, the keys of
// objects too. Throws RC_E_INVALID_ARGUMENT for whole numbers of more than 64
// bits.
Value from_json(const JsonValue& json, Origin origin);

}  // namespace rc::text::chat
