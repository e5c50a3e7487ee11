#include "text/chat/history.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <utility>

namespace rc::text::chat {
namespace {

using Type = JsonValue::Type;

const JsonValue* calls_of(const JsonValue& message) {
  const JsonValue* calls = message.find("tool_calls");
  return calls != nullptr && calls->is(Type::kArray) ? calls : nullptr;
}

bool has_several(const JsonValue& message) {
  const JsonValue* calls = calls_of(message);
  return calls != nullptr && calls->items.size() > 1;
}

bool is_result(const JsonValue& message) {
  const JsonValue* role = message.find("role");
  return role != nullptr && role->text == "tool";
}

// "" if there is none.
std::string_view text_member(const JsonValue& object, std::string_view name) {
  const JsonValue* found = object.find(name);
  return found != nullptr && found->is(Type::kString)
             ? std::string_view(found->text)
             : std::string_view();
}

JsonValue with_call(const JsonValue& message, const JsonValue& call,
                    bool is_first) {
  JsonValue result{.type = Type::kObject};
  for (const auto& [name, value] : message.members) {
    if (name == "tool_calls") {
      JsonValue calls{.type = Type::kArray};
      calls.items.push_back(call);
      result.members.emplace_back(name, std::move(calls));
    } else if (is_first || name == "role") {
      result.members.emplace_back(name, value);
    } else if (name == "content") {
      result.members.emplace_back(name, JsonValue());
    }
  }
  return result;
}

// Adds the messages for one that has several calls, and for the results after
// it, the last of which is before `end`.
void add_calls(const JsonValue& messages, size_t place, size_t end,
               std::vector<PlacedMessage>* out) {
  const JsonValue& message = messages.items[place];
  const std::vector<JsonValue>& calls = calls_of(message)->items;
  std::vector<size_t> left;
  for (size_t i = place + 1; i < end; ++i) left.push_back(i);
  for (size_t i = 0; i < calls.size(); ++i) {
    out->push_back({with_call(message, calls[i], i == 0), place});
    const std::string_view id = text_member(calls[i], "id");
    const auto result = std::find_if(left.begin(), left.end(), [&](size_t at) {
      return text_member(messages.items[at], "tool_call_id") == id;
    });
    if (result == left.end()) continue;
    out->push_back({messages.items[*result], *result});
    left.erase(result);
  }
  for (const size_t at : left) out->push_back({messages.items[at], at});
}

}  // namespace

std::string content_text(const JsonValue& content) {
  if (content.is(Type::kString)) return content.text;
  std::string joined;
  for (const JsonValue& part : content.items) {
    if (!joined.empty()) joined += '\n';
    joined += text_member(part, "text");
  }
  return joined;
}

bool has_several_calls(const JsonValue& messages) {
  return std::any_of(messages.items.begin(), messages.items.end(), has_several);
}

std::vector<PlacedMessage> with_single_calls(const JsonValue& messages) {
  std::vector<PlacedMessage> out;
  for (size_t i = 0; i < messages.items.size();) {
    if (!has_several(messages.items[i])) {
      out.push_back({messages.items[i], i});
      ++i;
      continue;
    }
    size_t end = i + 1;
    while (end < messages.items.size() && is_result(messages.items[end])) ++end;
    add_calls(messages, i, end, &out);
    i = end;
  }
  return out;
}

JsonValue with_text_as_reasoning(const JsonValue& message,
                                 std::string_view reasoning_key) {
  JsonValue result = message;
  const JsonValue* calls = calls_of(message);
  const JsonValue* content = message.find("content");
  const std::string_view reasoning = text_member(message, reasoning_key);
  if (calls == nullptr || calls->items.empty() || content == nullptr ||
      reasoning.empty()) {
    return result;
  }
  const std::string text = content_text(*content);
  if (text.empty()) return result;
  for (auto& [name, value] : result.members) {
    if (name == "content") value = JsonValue();
    if (name == reasoning_key) value.text += "\n\n" + text;
  }
  return result;
}

std::string short_id(std::string_view id) {
  constexpr size_t kSize = 9;
  const bool good =
      id.size() == kSize && std::all_of(id.begin(), id.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0;
      });
  if (good) return std::string(id);
  // FNV-1a.
  uint64_t hash = 14695981039346656037U;
  for (const char c : id) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";
  std::string made;
  for (size_t i = 0; i < kSize; ++i) {
    made += kDigits[hash % kDigits.size()];
    hash /= kDigits.size();
  }
  return made;
}

}  // namespace rc::text::chat
