// Conversations and tools in the shape of OpenAI's chat completions, made into
// what chat templates read.
//
// https://platform.openai.com/docs/api-reference/chat/create
#pragma once

#include <string_view>
#include <vector>

#include "base/json_value.h"
#include "text/chat/dialect.h"
#include "text/chat/history.h"
#include "text/chat/message_checks.h"
#include "text/chat/value.h"

namespace rc::text::chat {

// Parses the JSON that an argument of this name holds. Throws
// RC_E_INVALID_ARGUMENT as parse_json does; values may nest 200 levels deep.
JsonValue parse_argument(std::string_view json, std::string_view name);

// Returns a list of messages for the variable "messages". Everything in it is
// content, except for the well-known roles. `checks` follows the conversation.
// Throws RC_E_INVALID_ARGUMENT if a message is malformed, with the place
// ("messages[2].content"), and RC_E_UNSUPPORTED for parts of content that are
// not text.
Value messages_value(const JsonValue& messages, const Dialect& dialect,
                     MessageChecks* checks);
// The same of messages that were made of checked ones.
Value messages_value(const std::vector<PlacedMessage>& messages,
                     const Dialect& dialect);

// A list of tools for the variable "tools", all of it content. Throws as
// messages_value does.
Value tools_value(const JsonValue& tools);

// The text of the last message, the one that is to be continued: its content,
// or the last part of it. Of messages that messages_value took. Throws
// RC_E_INVALID_ARGUMENT if there is none but spaces.
std::string_view text_to_continue(const JsonValue& messages);

}  // namespace rc::text::chat
