#include "text/chat/conversation.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/quote.h"
#include "text/chat/containers.h"
#include "text/chat/from_json.h"

namespace rc::text::chat {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kDeepestArgument = 200;

constexpr std::array<std::string_view, 5> kRoles = {
    "system", "developer", "user", "assistant", "tool"};
// The names under which programs keep what a model thought.
constexpr std::array<std::string_view, 3> kReasoningKeys = {
    "reasoning_content", "reasoning", "thinking"};

// Like get_ref of a member, nullptr if it is absent or null.
const Json* find(const Json& object, std::string_view name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

[[noreturn]] void refuse(const std::string& place, const Json& value,
                         const char* wanted) {
  fail(RC_E_INVALID_ARGUMENT, place, ": ",
       value.is_null() ? "null or absent" : value.type_name(),
       ", but it must be ", wanted);
}

const std::string& need_text(const Json& object, std::string_view name,
                             const std::string& place) {
  const Json* value = find(object, name);
  if (value == nullptr || !value->is_string()) {
    refuse(cat(place, ".", name), value == nullptr ? Json() : *value,
           "a string");
  }
  return value->get_ref<const std::string&>();
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
  void add_json(const std::string& name, const Json& value) {
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
  explicit Reader(const Dialect& dialect) : dialect_(dialect) {}

  Value message(const Json& message, const std::string& place) {
    if (!message.is_object()) refuse(place, message, "an object");
    const std::string& role = need_text(message, "role", place);
    Entries entries;
    add_role(role, &entries);
    for (const auto& [name, value] : message.items()) {
      const std::string at = cat(place, ".", name);
      if (name == "role") continue;
      if (name == "content") {
        if (!value.is_null()) entries.add(name, content(value, at));
      } else if (name == "tool_calls") {
        if (!value.is_null()) entries.add(name, calls(value, at));
      } else {
        entries.add_json(name, value);
      }
    }
    if (find(message, "content") == nullptr) {
      add_no_content(message, &entries);
    }
    add_reasoning(message, place, &entries);
    if (role == "tool") add_name_of_call(message, place, &entries);
    return entries.take();
  }

 private:
  void add_role(const std::string& role, Entries* entries) const {
    const bool known =
        std::find(kRoles.begin(), kRoles.end(), role) != kRoles.end();
    const bool other_name = role == "developer" && !dialect_.knows_developer;
    // Templates make names of special tokens with roles ("<|user|>").
    entries->add("role",
                 Value::string(other_name ? "system" : role,
                               known ? Origin::kTemplate : Origin::kContent));
  }

  Value content(const Json& content, const std::string& place) const {
    if (content.is_string()) {
      const auto& text = content.get_ref<const std::string&>();
      if (dialect_.content != Dialect::Content::kParts) {
        return Value::string(text, Origin::kContent);
      }
      return parts_value({text});
    }
    if (!content.is_array()) {
      refuse(place, content, "a string, an array of parts or null");
    }
    std::vector<std::string_view> texts;
    for (size_t i = 0; i < content.size(); ++i) {
      texts.push_back(part_text(content[i], cat(place, "[", i, "]")));
    }
    if (dialect_.content != Dialect::Content::kText) return parts_value(texts);
    std::string joined;
    for (size_t i = 0; i < texts.size(); ++i) {
      if (i > 0) joined += '\n';
      joined += texts[i];
    }
    return Value::string(joined, Origin::kContent);
  }

  static std::string_view part_text(const Json& part,
                                    const std::string& place) {
    if (!part.is_object()) refuse(place, part, "an object");
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

  void add_no_content(const Json& message, Entries* entries) const {
    if (dialect_.empty_content) {
      entries->add("content", Value::string("", Origin::kTemplate));
    } else if (message.contains("content")) {
      entries->add("content", Value::none());
    }
  }

  Value calls(const Json& calls, const std::string& place) {
    if (!calls.is_array()) refuse(place, calls, "an array of calls or null");
    std::vector<Value> values;
    for (size_t i = 0; i < calls.size(); ++i) {
      values.push_back(call(calls[i], cat(place, "[", i, "]")));
    }
    return make_list(std::move(values));
  }

  Value call(const Json& call, const std::string& place) {
    if (!call.is_object()) refuse(place, call, "an object");
    const Json* function = find(call, "function");
    const std::string at = cat(place, ".function");
    if (function == nullptr || !function->is_object()) {
      refuse(at, function == nullptr ? Json() : *function, "an object");
    }
    const std::string& name = need_text(*function, "name", at);
    if (const Json* id = find(call, "id"); id != nullptr && id->is_string()) {
      names_[id->get<std::string>()] = name;
    }
    Entries entries;
    if (!call.contains("type")) entries.add_text("type", "function");
    for (const auto& [key, value] : call.items()) {
      if (key == "function") {
        entries.add(key, function_value(value, at));
      } else {
        entries.add_json(key, value);
      }
    }
    return entries.take();
  }

  Value function_value(const Json& function, const std::string& place) const {
    Entries entries;
    for (const auto& [key, value] : function.items()) {
      if (key == "arguments") {
        entries.add(key, arguments(value, cat(place, ".arguments")));
      } else {
        entries.add_json(key, value);
      }
    }
    return entries.take();
  }

  Value arguments(const Json& given, const std::string& place) const {
    std::string text = given.is_string() ? given.get<std::string>() : "";
    // Some programs say with an empty text that a call has none.
    if (given.is_string() && text.empty()) text = "{}";
    const Json parsed =
        given.is_string() ? parse_argument(text, place.c_str()) : Json();
    const Json& object = given.is_string() ? parsed : given;
    if (!object.is_object()) {
      refuse(place, object, "an object, or one as JSON in a string");
    }
    if (!dialect_.arguments_as_text) return from_json(object, Origin::kContent);
    return Value::string(given.is_string() ? text : object.dump(),
                         Origin::kContent);
  }

  void add_reasoning(const Json& message, const std::string& place,
                     Entries* entries) const {
    for (const std::string_view key : kReasoningKeys) {
      const Json* reasoning = find(message, key);
      if (reasoning == nullptr) continue;
      if (!reasoning->is_string()) {
        refuse(cat(place, ".", key), *reasoning, "a string or null");
      }
      if (!dialect_.reasoning_key.empty() &&
          find(message, dialect_.reasoning_key) == nullptr) {
        entries->add_text(dialect_.reasoning_key,
                          reasoning->get_ref<const std::string&>());
      }
      return;
    }
  }

  // Templates that name the function of a result look for it in the message,
  // where OpenAI's shape has only the id of the call.
  void add_name_of_call(const Json& message, const std::string& place,
                        Entries* entries) const {
    const Json* id = find(message, "tool_call_id");
    if (id == nullptr || find(message, "name") != nullptr) return;
    const auto found = names_.find(need_text(message, "tool_call_id", place));
    if (found != names_.end()) entries->add_text("name", found->second);
  }

  const Dialect& dialect_;
  std::map<std::string, std::string> names_;  // of functions, by id of the call
};

const Json& need_list(const Json& list, const char* name) {
  if (!list.is_array()) refuse(name, list, "an array");
  return list;
}

}  // namespace

Json parse_argument(std::string_view json, const char* name) {
  const auto check_depth = [&](int depth, Json::parse_event_t /*event*/,
                               Json& /*value*/) {
    if (depth > kDeepestArgument) {
      fail(RC_E_INVALID_ARGUMENT, name, ": JSON of more than ",
           kDeepestArgument, " levels: flatten it");
    }
    return true;
  };
  try {
    return Json::parse(json.begin(), json.end(), check_depth);
  } catch (const Json::parse_error& error) {
    fail(RC_E_INVALID_ARGUMENT, name, ": not JSON at byte ", error.byte, ": ",
         error.what());
  } catch (const Json::out_of_range& error) {
    fail(RC_E_INVALID_ARGUMENT, name, ": ", error.what());
  }
}

Value messages_value(const Json& messages, const Dialect& dialect) {
  need_list(messages, "messages");
  if (messages.empty()) {
    fail(RC_E_INVALID_ARGUMENT, "messages: an empty array; give at least one");
  }
  Reader reader(dialect);
  std::vector<Value> values;
  for (size_t i = 0; i < messages.size(); ++i) {
    values.push_back(reader.message(messages[i], cat("messages[", i, "]")));
  }
  return make_list(std::move(values));
}

Value tools_value(const Json& tools) {
  need_list(tools, "tools");
  for (size_t i = 0; i < tools.size(); ++i) {
    const std::string place = cat("tools[", i, "]");
    if (!tools[i].is_object()) refuse(place, tools[i], "an object");
    const std::string& type = need_text(tools[i], "type", place);
    if (type != "function") {
      fail(RC_E_UNSUPPORTED, place, ".type: ", quote(type),
           " is not supported; tools are of the type 'function'");
    }
    const Json* function = find(tools[i], "function");
    if (function == nullptr || !function->is_object()) {
      refuse(cat(place, ".function"), function == nullptr ? Json() : *function,
             "an object");
    }
    need_text(*function, "name", cat(place, ".function"));
  }
  return from_json(tools, Origin::kContent);
}

std::string_view text_to_continue(const Json& messages) {
  const Json* content = find(messages.back(), "content");
  std::string_view text;
  if (content != nullptr && content->is_array() && !content->empty()) {
    content = find(content->back(), "text");
  }
  if (content != nullptr && content->is_string()) {
    text = content->get_ref<const std::string&>();
  }
  if (text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos) {
    fail(RC_E_INVALID_ARGUMENT, "messages[", messages.size() - 1,
         "].content: there is no text to continue");
  }
  return text;
}

}  // namespace rc::text::chat
