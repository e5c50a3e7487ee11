// Conversations and tools in the shape of OpenAI's chat completions, made into
// what chat templates read.
//
// https://platform.openai.com/docs/api-reference/chat/create
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "text/chat/dialect.h"
#include "text/chat/value.h"

namespace rc::text::chat {

// Parses the JSON that an argument of this name holds. Throws
// RC_E_INVALID_ARGUMENT with the byte of a mistake, and for values within more
// than 200 others.
nlohmann::ordered_json parse_argument(std::string_view json, const char* name);

// A list of messages for the variable "messages". All of it is content but the
// well-known roles. Throws RC_E_INVALID_ARGUMENT with the place of what is not
// in that shape ("messages[2].content"), RC_E_UNSUPPORTED for parts of content
// other than text.
Value messages_value(const nlohmann::ordered_json& messages,
                     const Dialect& dialect);

// A list of tools for the variable "tools", all of it content. Throws as
// messages_value does.
Value tools_value(const nlohmann::ordered_json& tools);

// The text of the last message, the one that is to be continued: its content,
// or the last part of it. Of messages that messages_value took. Throws
// RC_E_INVALID_ARGUMENT if there is none but spaces.
std::string_view text_to_continue(const nlohmann::ordered_json& messages);

}  // namespace rc::text::chat
