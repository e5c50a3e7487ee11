// Checks that a format of calls can write the names of a tool.
#pragma once

#include <string>

#include "base/json_value.h"
#include "text/chat/replies/reply_format.h"

namespace rc::text::chat {

// Whether the byte may stand in the name of an element, which is not its first
// one if it is a slash.
bool is_element_byte(char c);

// Checks the name of a function and the names of its arguments; of shapes that
// write members of objects without quotes, also those. `place` names the
// function in errors. Throws RC_E_INVALID_ARGUMENT.
void check_call_names(const JsonValue& function, CallShape shape,
                      const std::string& place);

}  // namespace rc::text::chat
