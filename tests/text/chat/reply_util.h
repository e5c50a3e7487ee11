// Answers as they are read, for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "text/chat/conversation.h"
#include "text/chat/loose_json.h"
#include "text/chat/prompt_util.h"
#include "text/chat/replies/reply_parser.h"

namespace rc::text::chat {

using Events = std::vector<ReplyEvent>;

// Returns the name of the first call, or a word for what came instead.
inline std::string first_call(const Events& events, JsonValue* arguments) {
  for (const ReplyEvent& event : events) {
    if (event.type == ReplyEvent::Type::kMalformed) return "malformed";
    if (event.type != ReplyEvent::Type::kCallEnd) continue;
    auto read = read_loose_json(event.text);
    if (!read) return "no JSON: " + event.text;
    *arguments = std::move(*read);
    return event.name;
  }
  return "no call";
}

// "text(...)", "why(...)", "call f#id {...}", "bad(...)", one after the other;
// arguments as pieces have to be what they are as a whole.
inline std::string shown(const Events& events) {
  std::string out;
  std::string arguments;
  using Type = ReplyEvent::Type;
  Type last = Type::kCallEnd;
  for (const ReplyEvent& event : events) {
    const bool goes_on = !out.empty() && event.type == last;
    switch (event.type) {
      case Type::kText:
      case Type::kReasoning:
      case Type::kMalformed:
        if (goes_on) {
          out.pop_back();
        } else {
          out += event.type == Type::kText        ? "text("
                 : event.type == Type::kReasoning ? "why("
                                                  : "bad(";
        }
        out += event.text + ")";
        break;
      case Type::kCallBegin:
        out += "call ";
        arguments.clear();
        break;
      case Type::kCallArguments:
        arguments += event.text;
        break;
      case Type::kCallEnd:
        EXPECT_EQ(arguments, event.text);
        out += event.name + (event.id.empty() ? "" : "#" + event.id) + " " +
               event.text;
        break;
    }
    last = event.type;
  }
  return out;
}

// With two tools whose arguments may be anything.
inline ReplyOptions offering() {
  ReplyOptions options;
  options.tools = ToolTypes(
      parse_argument(R"([{"type": "function", "function": {"name": "f"}},)"
                     R"( {"type": "function", "function": {"name": "g"}}])",
                     "tools"));
  return options;
}

inline std::string parsed(const std::string& format,
                          const std::vector<std::string>& pieces,
                          ReplyOptions options = offering()) {
  ReplyParser parser(*reply_format(format), std::move(options));
  Events events;
  for (const std::string& piece : pieces) parser.feed(piece, &events);
  parser.finish(&events);
  return shown(events);
}

inline std::vector<std::string> bytes_of(const std::string& text) {
  std::vector<std::string> bytes;
  for (const char c : text) bytes.emplace_back(1, c);
  return bytes;
}

}  // namespace rc::text::chat
