#include "text/chat/conversation.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/quote.h"
#include "text/chat/calls_as_content.h"
#include "text/chat/containers.h"
#include "text/chat/from_json.h"
#include "text/chat/history.h"
#include "text/chat/loose_json.h"

namespace rc::text::chat {
namespace {

using Type = JsonValue::Type;

constexpr size_t kDeepestArgument = 200;

constexpr std::array<std::string_view, 5> kRoles = {
    "system", "developer", "user", "assistant", "tool"};
// The names under which programs keep what a model thought.
constexpr std::array<std::string_view, 3> kReasoningKeys = {
    "reasoning_content", "reasoning", "thinking"};

const JsonValue& need_object(const JsonValue& parent, std::string_view name,
                             const std::string& place) {
  const JsonValue* value = parent.find(name);
  if (value == nullptr || !value->is(Type::kObject)) {
    refuse(place, value, "an object");
  }
  return *value;
}

class Entries {
 public:
  void add(std::string_view name, Value value) {
    entries_.emplace_back(Value::string(name, Origin::kTemplate),
                          std::move(value));
  }
  void add_text(std::string_view name, std::string_view text) {
    add(name, Value::string(text, Origin::kContent));
  }
  void add_json(const std::string& name, const JsonValue& value) {
    entries_.emplace_back(Value::string(name, Origin::kContent),
                          from_json(value, Origin::kContent));
  }
  Value take() { return make_dict(nullptr, std::move(entries_)); }

 private:
  std::vector<Dict::Entry> entries_;
};

// The messages of one conversation, one after the other.
class Reader {
 public:
  Reader(const Dialect& dialect, MessageChecks* checks)
      : dialect_(dialect), checks_(checks) {}

  Value message(const JsonValue& message, const std::string& place) {
    if (!message.is(Type::kObject)) refuse(place, &message, "an object");
    if (checks_ != nullptr) checks_->check(message, place);
    if (!dialect_.text_is_reasoning) return message_value(message, place);
    return message_value(
        with_text_as_reasoning(message, reasoning_key(message)), place);
  }

 private:
  // The member that holds the reasoning; "": there is none.
  static std::string_view reasoning_key(const JsonValue& message) {
    for (const std::string_view key : kReasoningKeys) {
      if (message.find_given(key) != nullptr) return key;
    }
    return {};
  }

  Value message_value(const JsonValue& message, const std::string& place) {
    const std::string& role = need_text(message, "role", place);
    const bool empty = is_empty_answer(message, role);
    const JsonValue* as_content =
        dialect_.calls_as_content == nullptr ? nullptr : given_calls(message);
    Entries entries;
    add_role(role, &entries);
    if (empty) entries.add("content", empty_answer());
    if (as_content != nullptr) {
      entries.add("content", content_with(message, *as_content, place));
    }
    for (const auto& [name, value] : message.members) {
      const std::string at = cat(place, ".", name);
      if (name == "role" || (empty && name == "content")) continue;
      if (as_content != nullptr &&
          (name == "content" || name == "tool_calls")) {
        continue;
      }
      if (name == "content") {
        if (!value.is(Type::kNull)) entries.add(name, content(value, at));
      } else if (name == "tool_calls") {
        // Templates ask whether the member is there.
        if (!value.is(Type::kNull) &&
            !(value.is(Type::kArray) && value.items.empty())) {
          entries.add(name, calls(value, at));
        }
      } else if (name == "tool_call_id" && value.is(Type::kString)) {
        entries.add_text(name, id_for_template(value.text));
      } else {
        entries.add_json(name, value);
      }
    }
    if (!empty && as_content == nullptr &&
        message.find_given("content") == nullptr) {
      add_no_content(message, &entries);
    }
    add_reasoning(message, place, &entries);
    if (role == "tool") add_name_of_call(message, place, &entries);
    return entries.take();
  }

  // The content of a message, in which its calls are.
  Value content_with(const JsonValue& message, const JsonValue& given,
                     const std::string& place) {
    // For what they throw, and the names of the functions.
    static_cast<void>(calls(given, cat(place, ".tool_calls")));
    const JsonValue* said = message.find_given("content");
    std::string text;
    if (said != nullptr) {
      static_cast<void>(content(*said, cat(place, ".content")));
      text = content_text(*said);
    }
    Value value = make_string(
        nullptr, with_calls(text, given, *dialect_.calls_as_content));
    if (dialect_.content != Dialect::Content::kParts) return value;
    Entries part;
    part.add("type", Value::string("text", Origin::kTemplate));
    part.add("text", std::move(value));
    return make_list({part.take()});
  }

  // Whether the template refuses the message because it says nothing.
  bool is_empty_answer(const JsonValue& message,
                       const std::string& role) const {
    if (dialect_.empty_answer == Dialect::EmptyAnswer::kNothing ||
        role != "assistant" || given_calls(message) != nullptr ||
        message.find_given("function_call") != nullptr) {
      return false;
    }
    const JsonValue* content = message.find_given("content");
    return content == nullptr ||
           (content->is(Type::kString) && content->text.empty()) ||
           (content->is(Type::kArray) && content->items.empty());
  }

  Value empty_answer() const {
    if (dialect_.empty_answer == Dialect::EmptyAnswer::kSpace) {
      return Value::string(" ", Origin::kTemplate);
    }
    return parts_value({""});
  }

  std::string id_for_template(const std::string& id) const {
    return dialect_.short_ids ? short_id(id) : id;
  }

  void add_role(const std::string& role, Entries* entries) const {
    const bool known =
        std::find(kRoles.begin(), kRoles.end(), role) != kRoles.end();
    const bool other_name = role == "developer" && !dialect_.knows_developer;
    // Templates make names of special tokens with roles ("<|user|>").
    entries->add("role",
                 Value::string(other_name ? "system" : role,
                               known ? Origin::kTemplate : Origin::kContent));
  }

  Value content(const JsonValue& content, const std::string& place) const {
    if (content.is(Type::kString)) {
      const std::string& text = content.text;
      if (dialect_.content != Dialect::Content::kParts) {
        return Value::string(text, Origin::kContent);
      }
      return parts_value({text});
    }
    if (!content.is(Type::kArray)) {
      refuse(place, &content, "a string, an array of parts or null");
    }
    std::vector<std::string_view> texts;
    for (size_t i = 0; i < content.items.size(); ++i) {
      texts.push_back(part_text(content.items[i], cat(place, "[", i, "]")));
    }
    if (dialect_.content != Dialect::Content::kText) return parts_value(texts);
    std::string joined;
    for (size_t i = 0; i < texts.size(); ++i) {
      if (i > 0) joined += '\n';
      joined += texts[i];
    }
    return Value::string(joined, Origin::kContent);
  }

  static std::string_view part_text(const JsonValue& part,
                                    const std::string& place) {
    if (!part.is(Type::kObject)) refuse(place, &part, "an object");
    const std::string& type = need_text(part, "type", place);
    if (type != "text") {
      fail(RC_E_UNSUPPORTED, place, ".type: ", quote(type),
           " is not supported; parts are of the type 'text'");
    }
    return need_text(part, "text", place);
  }

  static Value parts_value(const std::vector<std::string_view>& texts) {
    std::vector<Value> parts;
    for (const std::string_view text : texts) {
      Entries part;
      part.add("type", Value::string("text", Origin::kTemplate));
      part.add_text("text", text);
      parts.push_back(part.take());
    }
    return make_list(std::move(parts));
  }

  void add_no_content(const JsonValue& message, Entries* entries) const {
    if (dialect_.empty_content) {
      entries->add("content", Value::string("", Origin::kTemplate));
    } else if (message.find("content") != nullptr) {
      entries->add("content", Value::none());
    }
  }

  Value calls(const JsonValue& calls, const std::string& place) {
    if (!calls.is(Type::kArray))
      refuse(place, &calls, "an array of calls or null");
    std::vector<Value> values;
    for (size_t i = 0; i < calls.items.size(); ++i) {
      values.push_back(call(calls.items[i], cat(place, "[", i, "]")));
    }
    return make_list(std::move(values));
  }

  Value call(const JsonValue& call, const std::string& place) {
    if (!call.is(Type::kObject)) refuse(place, &call, "an object");
    const std::string at = cat(place, ".function");
    const JsonValue& function = need_object(call, "function", at);
    const std::string& name = need_text(function, "name", at);
    if (const JsonValue* id = call.find_given("id");
        id != nullptr && id->is(Type::kString)) {
      names_[id->text] = name;
    }
    Entries entries;
    if (call.find("type") == nullptr) entries.add_text("type", "function");
    for (const auto& [key, value] : call.members) {
      if (key == "function") {
        entries.add(key, function_value(value, at));
      } else if (key == "id" && value.is(Type::kString)) {
        entries.add_text(key, id_for_template(value.text));
      } else {
        entries.add_json(key, value);
      }
    }
    return entries.take();
  }

  Value function_value(const JsonValue& function,
                       const std::string& place) const {
    Entries entries;
    for (const auto& [key, value] : function.members) {
      if (key == "arguments") {
        entries.add(key, arguments(value, cat(place, ".arguments")));
      } else {
        entries.add_json(key, value);
      }
    }
    return entries.take();
  }

  // Takes all that a model's call may have.
  static JsonValue parse_arguments(std::string_view text,
                                   const std::string& place) {
    std::optional<JsonValue> loose = read_loose_json(text);
    return loose ? std::move(*loose) : parse_argument(text, place);
  }

  Value arguments(const JsonValue& given, const std::string& place) const {
    const bool as_text = given.is(Type::kString);
    // Some programs say with an empty text that a call has none.
    const std::string_view text =
        as_text && given.text.empty() ? "{}" : std::string_view(given.text);
    const JsonValue parsed =
        as_text ? parse_arguments(text, place) : JsonValue();
    const JsonValue& object = as_text ? parsed : given;
    if (!object.is(Type::kObject)) {
      refuse(place, &object, "an object, or one as JSON in a string");
    }
    if (!dialect_.arguments_as_text) return from_json(object, Origin::kContent);
    if (as_text) return Value::string(text, Origin::kContent);
    return Value::string(json_text(object), Origin::kContent);
  }

  void add_reasoning(const JsonValue& message, const std::string& place,
                     Entries* entries) const {
    for (const std::string_view key : kReasoningKeys) {
      const JsonValue* reasoning = message.find_given(key);
      if (reasoning == nullptr) continue;
      if (!reasoning->is(Type::kString)) {
        refuse(cat(place, ".", key), reasoning, "a string or null");
      }
      if (!dialect_.reasoning_key.empty() &&
          message.find_given(dialect_.reasoning_key) == nullptr) {
        entries->add_text(dialect_.reasoning_key, reasoning->text);
      }
      return;
    }
  }

  // Templates that name the function of a result look for it in the message,
  // where OpenAI's shape has only the id of the call.
  void add_name_of_call(const JsonValue& message, const std::string& place,
                        Entries* entries) const {
    const JsonValue* id = message.find_given("tool_call_id");
    if (id == nullptr || message.find_given("name") != nullptr) return;
    const auto found = names_.find(need_text(message, "tool_call_id", place));
    if (found != names_.end()) entries->add_text("name", found->second);
  }

  const Dialect& dialect_;
  MessageChecks* const checks_;  // nullptr: the messages were checked
  std::map<std::string, std::string> names_;  // of functions, by id of the call
};

const JsonValue& need_list(const JsonValue& list, const char* name) {
  if (!list.is(Type::kArray)) refuse(name, &list, "an array");
  return list;
}

}  // namespace

JsonValue parse_argument(std::string_view json, std::string_view name) {
  return parse_json(json, name, kDeepestArgument);
}

namespace {

Value messages_value(const std::vector<PlacedMessage>& messages,
                     const Dialect& dialect, MessageChecks* checks) {
  Reader reader(dialect, checks);
  std::vector<Value> values;
  for (const PlacedMessage& one : messages) {
    values.push_back(
        reader.message(one.message, cat("messages[", one.place, "]")));
  }
  return make_list(std::move(values));
}

}  // namespace

Value messages_value(const std::vector<PlacedMessage>& messages,
                     const Dialect& dialect) {
  return messages_value(messages, dialect, nullptr);
}

Value messages_value(const JsonValue& messages, const Dialect& dialect,
                     MessageChecks* checks) {
  need_list(messages, "messages");
  if (messages.items.empty()) {
    fail(RC_E_INVALID_ARGUMENT, "messages: an empty array; give at least one");
  }
  if (dialect.one_call && has_several_calls(messages)) {
    return messages_value(with_single_calls(messages), dialect, checks);
  }
  Reader reader(dialect, checks);
  std::vector<Value> values;
  for (size_t i = 0; i < messages.items.size(); ++i) {
    values.push_back(
        reader.message(messages.items[i], cat("messages[", i, "]")));
  }
  return make_list(std::move(values));
}

Value tools_value(const JsonValue& tools) {
  need_list(tools, "tools");
  for (size_t i = 0; i < tools.items.size(); ++i) {
    const std::string place = cat("tools[", i, "]");
    if (!tools.items[i].is(Type::kObject))
      refuse(place, &tools.items[i], "an object");
    const std::string& type = need_text(tools.items[i], "type", place);
    if (type != "function") {
      fail(RC_E_UNSUPPORTED, place, ".type: ", quote(type),
           " is not supported; tools are of the type 'function'");
    }
    const std::string at = cat(place, ".function");
    need_text(need_object(tools.items[i], "function", at), "name", at);
  }
  return from_json(tools, Origin::kContent);
}

std::string_view text_to_continue(const JsonValue& messages) {
  const JsonValue* content = messages.items.back().find("content");
  if (content != nullptr && content->is(Type::kArray) &&
      !content->items.empty()) {
    content = content->items.back().find("text");
  }
  std::string_view text;
  if (content != nullptr && content->is(Type::kString)) text = content->text;
  if (text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos) {
    fail(RC_E_INVALID_ARGUMENT, "messages[", messages.items.size() - 1,
         "].content: there is no text to continue");
  }
  return text;
}

}  // namespace rc::text::chat
