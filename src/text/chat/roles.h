// The roles that messages of a chat template may have.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "text/chat/dialect.h"
#include "text/chat/trials.h"

namespace rc::text::chat {

// Knows the roles of OpenAI's chat completions, those that the template names
// in quotes, and those that the template, tried on a message of such a role,
// writes down together with the content.
class Roles {
 public:
  // `source` is the text of the template that `trials` tries. Both have to live
  // longer than this.
  Roles(std::string_view source, const Dialect& dialect, const Trials& trials);

  // Throws RC_E_DEVICE if the system refuses the thread that a template is
  // tried on, and RC_E_INVALID_ARGUMENT if the role is unknown, or seems to be
  // a known one that is misspelled. `place` is the message's: "messages[0]".
  void check(const std::string& role, const std::string& place);

 private:
  bool names(std::string_view role) const;
  // The known role that is nearest, or "" if none is near.
  std::string_view nearest(std::string_view role) const;
  // Whether the template, tried, takes a role. `near` is the known role that is
  // nearest, or "".
  bool accepts(std::string_view role, std::string_view near) const;
  // Whether the template writes a message of this role as it does of `other`.
  bool same(std::string_view role, std::string_view other) const;
  bool writes(std::string_view role) const;
  std::string trial_message(std::string_view role) const;

  const std::string_view source_;
  const bool parts_;  // contents have to be parts
  const Trials& trials_;
  std::vector<std::string_view> known_;
  std::map<std::string, bool> written_;  // the results of trials
};

}  // namespace rc::text::chat
