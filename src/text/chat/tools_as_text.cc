#include "text/chat/tools_as_text.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "text/chat/message_checks.h"

namespace rc::text::chat {
namespace {

using Type = JsonValue::Type;

bool has_role(const JsonValue& message, std::string_view role) {
  const JsonValue* found = message.find("role");
  return found != nullptr && found->text == role;
}

JsonValue text_value(std::string text) {
  return {.type = Type::kString, .text = std::move(text)};
}

JsonValue message_of(std::string_view role, std::string text) {
  JsonValue message{.type = Type::kObject};
  message.members.emplace_back("role", text_value(std::string(role)));
  message.members.emplace_back("content", text_value(std::move(text)));
  return message;
}

std::string text_of(const JsonValue& message) {
  const JsonValue* content = message.find_given("content");
  return content == nullptr ? std::string() : content_text(*content);
}

void set_text(JsonValue* message, std::string text) {
  for (auto& [name, value] : message->members) {
    if (name != "content") continue;
    value = text_value(std::move(text));
    return;
  }
  message->members.emplace_back("content", text_value(std::move(text)));
}

std::string joined(std::string first, std::string_view between,
                   std::string_view second) {
  if (!first.empty() && !second.empty()) first += between;
  return std::move(first.append(second));
}

std::string description(const JsonValue& tools) {
  std::string text =
      "Functions can be called. Here is a JSON object for each, with the "
      "schema of its arguments:\n<tools>\n";
  for (const JsonValue& tool : tools.items) {
    text += json_text(*tool.find("function")) + "\n";
  }
  return text +
         "</tools>\n\nTo call one, write its name and its arguments like this, "
         "several calls one after the other, and nothing after the last one:\n"
         "<tool_call>\n{\"name\": \"NAME\", \"arguments\": {\"KEY\": "
         "VALUE}}\n</tool_call>\n\nThe next message has the result of each "
         "call between <tool_response> and </tool_response>. Where no function "
         "is of use, answer without a call.";
}

JsonValue with_calls_as_text(const JsonValue& message) {
  std::string text = text_of(message);
  for (const JsonValue& call : given_calls(message)->items) {
    const JsonValue& function = *call.find("function");
    const JsonValue* arguments = function.find_given("arguments");
    std::string json = "{}";
    if (arguments != nullptr && arguments->is(Type::kObject)) {
      json = json_text(*arguments);
    } else if (arguments != nullptr && !arguments->text.empty()) {
      json = arguments->text;
    }
    text = joined(
        std::move(text), "\n",
        cat("<tool_call>\n{\"name\": ", json_text(function.find("name")->text),
            ", \"arguments\": ", json, "}\n</tool_call>"));
  }
  JsonValue result{.type = Type::kObject};
  for (const auto& [name, value] : message.members) {
    if (name != "tool_calls") result.members.emplace_back(name, value);
  }
  set_text(&result, std::move(text));
  return result;
}

std::vector<PlacedMessage> with_calls_as_text_of_all(
    const JsonValue& messages) {
  std::vector<PlacedMessage> out;
  bool after_result = false;
  for (size_t i = 0; i < messages.items.size(); ++i) {
    const JsonValue& message = messages.items[i];
    const bool is_result = has_role(message, "tool");
    if (is_result || (after_result && has_role(message, "user"))) {
      // Templates want the user and the assistant to take turns.
      const std::string text =
          is_result
              ? cat("<tool_response>\n", text_of(message), "\n</tool_response>")
              : text_of(message);
      if (!after_result) out.push_back({message_of("user", ""), i});
      JsonValue* last = &out.back().message;
      set_text(last, joined(text_of(*last), is_result ? "\n" : "\n\n", text));
    } else if (given_calls(message) != nullptr) {
      out.push_back({with_calls_as_text(message), i});
    } else {
      out.push_back({message, i});
    }
    after_result = is_result;
  }
  return out;
}

}  // namespace

bool has_calls(const JsonValue& messages) {
  return std::any_of(messages.items.begin(), messages.items.end(),
                     [](const JsonValue& message) {
                       return given_calls(message) != nullptr ||
                              has_role(message, "tool");
                     });
}

std::vector<PlacedMessage> with_tools_as_text(const JsonValue& messages,
                                              const JsonValue* tools,
                                              bool takes_system) {
  std::vector<PlacedMessage> out = with_calls_as_text_of_all(messages);
  if (tools == nullptr || tools->items.empty()) return out;
  const std::string text = description(*tools);
  JsonValue* first = &out.front().message;
  if (has_role(*first, "system") || has_role(*first, "developer")) {
    set_text(first, joined(text_of(*first), "\n\n", text));
    return out;
  }
  const auto user =
      std::find_if(out.begin(), out.end(), [](const PlacedMessage& placed) {
        return has_role(placed.message, "user");
      });
  if (takes_system || user == out.end()) {
    out.insert(out.begin(), {message_of("system", text), 0});
  } else {
    set_text(&user->message, joined(text, "\n\n", text_of(user->message)));
  }
  return out;
}

}  // namespace rc::text::chat
