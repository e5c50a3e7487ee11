// Conversations in the form in which a template takes them, where it takes less
// than the shape of OpenAI's chat completions allows: so a call that a model
// made never keeps it from its next answer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_value.h"
#include "text/chat/dialect.h"

namespace rc::text::chat {

// A message, and the place of the one from which it was made.
struct PlacedMessage {
  JsonValue message;
  size_t place;
};

// The text of a content, parts of it joined.
std::string content_text(const JsonValue& content);

// Messages with several calls as one message for each, with its results after
// it. `messages` is an array.
std::vector<PlacedMessage> with_single_calls(const JsonValue& messages);

// Whether any message has several calls.
bool has_several_calls(const JsonValue& messages);

// The message with its text as a part of its reasoning, which is in the member
// `reasoning_key`, if it has calls, text and reasoning.
JsonValue with_text_as_reasoning(const JsonValue& message,
                                 std::string_view reasoning_key);

// An id of nine letters and digits: the same one if it is such, otherwise one
// that is made of it.
std::string short_id(std::string_view id);

}  // namespace rc::text::chat
