// Checks of messages that do not depend on how a template writes them: so an
// error names the message, and not a line of the template.
#pragma once

#include <set>
#include <string>

#include "base/json_value.h"
#include "text/chat/roles.h"

namespace rc::text::chat {

// Throws RC_E_INVALID_ARGUMENT: `place` names a value, or an absent one if
// `value` is nullptr, that must be `wanted`.
[[noreturn]] void refuse(const std::string& place, const JsonValue* value,
                         const char* wanted);

// Returns the member of an object that must be a string; throws as `refuse`.
const std::string& need_text(const JsonValue& object, std::string_view name,
                             const std::string& place);

// Returns the calls of a message, or nullptr if it has none.
const JsonValue* given_calls(const JsonValue& message);

// Follows the messages of one conversation.
class MessageChecks {
 public:
  // `roles` has to live longer than this.
  explicit MessageChecks(Roles* roles) : roles_(roles) {}

  // Checks the next message, an object, whose place is as in "messages[2]":
  // its role, that there is a content where one has to be, the members of
  // calls, and that a result of a tool belongs to a call before it. Throws
  // RC_E_INVALID_ARGUMENT with the place.
  void check(const JsonValue& message, const std::string& place);

  // Takes note of the calls of a message.
  void remember(const JsonValue& message);

 private:
  void check_result(const JsonValue& message, const std::string& place) const;

  Roles* const roles_;
  std::set<std::string> ids_;  // of all calls so far
  bool last_has_ids_ = false;  // of the last message with calls
  bool has_calls_ = false;
};

}  // namespace rc::text::chat
