#include "text/chat/message_checks.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.h"
#include "base/quote.h"

namespace rc::text::chat {
namespace {

using Type = JsonValue::Type;

// Members with which a message of the assistant needs no content.
constexpr std::array<std::string_view, 7> kInsteadOfContent = {
    "tool_calls", "function_call", "reasoning_content", "reasoning", "thinking",
    "refusal",    "audio"};
// Roles whose messages have nothing but a content. Other roles are those of
// templates, which may take other members.
constexpr std::array<std::string_view, 5> kRolesOfContent = {
    "system", "developer", "user", "tool", "function"};

bool is_empty_list(const JsonValue& value) {
  return value.is(Type::kArray) && value.items.empty();
}

void check_content(const JsonValue& message, const std::string& role,
                   const std::string& place) {
  const JsonValue* content = message.find("content");
  if (content != nullptr && !content->is(Type::kNull)) return;
  const std::string at = cat(place, ".content");
  if (role == "assistant") {
    const bool has_other =
        std::any_of(kInsteadOfContent.begin(), kInsteadOfContent.end(),
                    [&](std::string_view name) {
                      const JsonValue* other = message.find_given(name);
                      return other != nullptr && !is_empty_list(*other);
                    });
    if (content != nullptr || has_other) return;
    refuse(at, content,
           "a string, an array of parts or null; only messages with tool_calls "
           "may have none");
  }
  if (std::find(kRolesOfContent.begin(), kRolesOfContent.end(), role) !=
      kRolesOfContent.end()) {
    refuse(at, content, "a string or an array of parts");
  }
}

void check_calls(const JsonValue& message, const std::string& place) {
  const JsonValue* calls = given_calls(message);
  if (calls == nullptr) return;
  for (size_t i = 0; i < calls->items.size(); ++i) {
    const JsonValue& call = calls->items[i];
    const std::string at = cat(place, ".tool_calls[", i, "]");
    const JsonValue* id = call.find_given("id");
    if (id != nullptr && !id->is(Type::kString)) {
      refuse(cat(at, ".id"), id, "a string");
    }
    const JsonValue* function = call.find_given("function");
    if (function == nullptr || !function->is(Type::kObject)) continue;
    const std::string& name = need_text(*function, "name", at + ".function");
    if (name.empty()) {
      fail(RC_E_INVALID_ARGUMENT, at,
           ".function.name: an empty string; give the name of the function "
           "that was called");
    }
    if (function->find("arguments") == nullptr) {
      refuse(cat(at, ".function.arguments"), nullptr,
             "an object, or one as JSON in a string");
    }
  }
}

}  // namespace

void refuse(const std::string& place, const JsonValue* value,
            const char* wanted) {
  fail(RC_E_INVALID_ARGUMENT, place, ": ",
       value == nullptr ? "absent" : type_name(*value), ", but it must be ",
       wanted);
}

const std::string& need_text(const JsonValue& object, std::string_view name,
                             const std::string& place) {
  const JsonValue* value = object.find(name);
  if (value == nullptr || !value->is(Type::kString)) {
    refuse(cat(place, ".", name), value, "a string");
  }
  return value->text;
}

const JsonValue* given_calls(const JsonValue& message) {
  const JsonValue* calls = message.find_given("tool_calls");
  return calls != nullptr && calls->is(Type::kArray) && !calls->items.empty()
             ? calls
             : nullptr;
}

void MessageChecks::check(const JsonValue& message, const std::string& place) {
  const std::string& role = need_text(message, "role", place);
  roles_->check(role, place);
  check_content(message, role, place);
  check_calls(message, place);
  if (role == "tool") check_result(message, place);
  remember(message);
}

void MessageChecks::check_result(const JsonValue& message,
                                 const std::string& place) const {
  const std::string at = cat(place, ".tool_call_id");
  const JsonValue* id = message.find_given("tool_call_id");
  if (id == nullptr) {
    // Templates that have no ids know results by the name of their function, or
    // by their order.
    if (message.find_given("name") != nullptr) return;
    if (has_calls_ && !last_has_ids_) return;
    refuse(at, message.find("tool_call_id"),
           "the id of a call in a message before it");
  }
  const std::string& text = need_text(message, "tool_call_id", place);
  if (ids_.contains(text)) return;
  const std::string next =
      ids_.empty()
          ? has_calls_ ? "the calls have no ids; give each an \"id\""
                       : "there are no calls; add the message of the "
                         "assistant whose tool_calls have it"
          : cat("use the id of a call, such as ", quote(*ids_.rbegin()));
  fail(RC_E_INVALID_ARGUMENT, at, ": ", quote(text),
       " is not the id of a call in a message before it; ", next);
}

void MessageChecks::remember(const JsonValue& message) {
  const JsonValue* calls = given_calls(message);
  if (calls == nullptr) return;
  has_calls_ = true;
  last_has_ids_ = false;
  for (const JsonValue& call : calls->items) {
    const JsonValue* id = call.find_given("id");
    if (id == nullptr || !id->is(Type::kString)) continue;
    last_has_ids_ = true;
    ids_.insert(id->text);
  }
}

}  // namespace rc::text::chat
