// Functions that the readers of calls share.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_value.h"
#include "text/chat/loose_json.h"
#include "text/chat/replies/call_reader.h"

namespace rc::text::chat {

inline constexpr std::string_view kReplySpaces = " \t\r\n";

inline bool is_reply_space(char c) {
  return kReplySpaces.find(c) != kReplySpaces.npos;
}

inline std::string_view without_spaces(std::string_view text) {
  const size_t begin = text.find_first_not_of(kReplySpaces);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kReplySpaces) + 1 - begin);
}

// Whether it can be the name of a function.
inline bool is_call_name(std::string_view name) {
  return !name.empty() && name.size() <= 256 &&
         name.find_first_of("<>\"{}[]\n") == name.npos;
}

// Whether a text looks like a mark rather than like a word or a fence.
inline bool is_tag(std::string_view text) {
  return text.size() > 2 && (text.front() == '<' || text.front() == '[' ||
                             text.starts_with("]<]"));
}

// Of kElements: the name of the items of an array, and the most bytes of a
// name.
inline constexpr std::string_view kItemElement = "item";
inline constexpr size_t kLongestElementName = 256;
// Elements within each other that are read.
inline constexpr size_t kDeepestElement = 64;

// A byte of JSON for strict parsers: within strings, control characters get
// escapes.
inline std::string strict_byte(char c, bool within_string) {
  std::string byte;
  if (within_string && static_cast<unsigned char>(c) < 0x20) {
    append_control(c, &byte);
  } else {
    byte = c;
  }
  return byte;
}

// Arguments that are no object as it is: null and empty texts mean none, and
// some models write the object as a text. Returns the object as JSON; nothing
// if it is none.
std::optional<std::string> arguments_of_value(std::string_view json);

// The value of a literal of Python's; nothing if it is none.
std::optional<JsonValue> read_python_literal(std::string_view text);

std::unique_ptr<CallReader> make_object_reader(const ReplyFormat& format,
                                               const ToolTypes& tools,
                                               CallMarks marks, CallSink* sink);
std::unique_ptr<CallReader> make_tag_reader(const ReplyFormat& format,
                                            const ToolTypes& tools,
                                            CallSink* sink);
std::unique_ptr<CallReader> make_element_reader(const ReplyFormat& format,
                                                const ToolTypes& tools,
                                                CallSink* sink);

}  // namespace rc::text::chat
