// Conversations with tools for templates that have no place for them: tools,
// calls and results become texts.
#pragma once

#include <string_view>
#include <vector>

#include "base/json_value.h"
#include "text/chat/history.h"

namespace rc::text::chat {

// The format in which answers have calls then.
inline constexpr std::string_view kFormatOfTexts = "hermes";

// Whether there are calls of tools in the messages, or results of calls.
bool has_calls(const JsonValue& messages);

// The messages with `tools` (nullptr: none) described at the end of the system
// message, which is added if there is none; before the text of the first user
// if the template takes no system message. Calls are a part of the assistant's
// text, in this format; results are texts of the user. The messages and
// tools are ones that messages_value and tools_value take.
std::vector<PlacedMessage> with_tools_as_text(const JsonValue& messages,
                                              const JsonValue* tools,
                                              bool takes_system);

}  // namespace rc::text::chat
