// Makes the syntax tree of a chat template.
#pragma once

#include <string_view>

#include "text/chat/limits.h"
#include "text/chat/syntax.h"

namespace rc::text::chat {

// Throws RC_E_FORMAT with line and column of what is wrong, RC_E_UNSUPPORTED
// for statements that need other templates and for what is nested too deep.
Syntax parse_template(std::string_view source, const Limits& limits);

}  // namespace rc::text::chat
