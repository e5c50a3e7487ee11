#include "text/chat/replies/answer.h"

#include <utility>

namespace rc::text::chat {
namespace {

using Type = JsonValue::Type;

JsonValue string_value(std::string_view text) {
  return {.type = Type::kString, .text = std::string(text)};
}

// Nine letters and digits: templates of Mistral's models take no others.
std::string made_id(size_t number) {
  std::string digits = std::to_string(number % 100000);
  digits.insert(0, 5 - digits.size(), '0');
  return "call" + digits;
}

}  // namespace

void Answer::add(ReplyEvent* event) {
  using EventType = ReplyEvent::Type;
  switch (event->type) {
    case EventType::kText:
    case EventType::kMalformed:
      text_ += event->text;
      break;
    case EventType::kReasoning:
      reasoning_ += event->text;
      break;
    case EventType::kCallBegin:
      name_ = event->name;
      id_ = event->id;
      break;
    case EventType::kCallArguments:
      event->name = name_;
      event->id = id_;
      break;
    case EventType::kCallEnd:
      if (event->id.empty()) {
        event->id = made_id(calls_before_ + event->call + 1);
      }
      calls_.push_back({event->id, event->name, event->text});
      break;
  }
}

JsonValue Answer::message() const {
  JsonValue message{.type = Type::kObject};
  const auto add = [](JsonValue* object, std::string_view name,
                      JsonValue value) {
    object->members.emplace_back(name, std::move(value));
  };
  add(&message, "role", string_value("assistant"));
  add(&message, "content",
      text_.empty() && has_calls() ? JsonValue() : string_value(text_));
  if (!reasoning_.empty()) {
    add(&message, "reasoning_content", string_value(reasoning_));
  }
  if (!has_calls()) return message;
  JsonValue calls{.type = Type::kArray};
  for (const Call& call : calls_) {
    JsonValue function{.type = Type::kObject};
    add(&function, "name", string_value(call.name));
    add(&function, "arguments", string_value(call.arguments));
    JsonValue value{.type = Type::kObject};
    add(&value, "id", string_value(call.id));
    add(&value, "type", string_value("function"));
    add(&value, "function", std::move(function));
    calls.items.push_back(std::move(value));
  }
  add(&message, "tool_calls", std::move(calls));
  return message;
}

}  // namespace rc::text::chat
