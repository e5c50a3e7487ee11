#include "text/chat/roles.h"

#include <algorithm>
#include <array>

#include "base/deep_stack.h"
#include "base/distance.h"
#include "base/error.h"
#include "base/json_value.h"
#include "base/quote.h"

namespace rc::text::chat {
namespace {

constexpr std::array<std::string_view, 5> kStandardRoles = {
    "system", "developer", "user", "assistant", "tool"};
// The role that OpenAI had before "tool"; many templates leave its messages
// out.
constexpr std::string_view kOldRole = "function";
// Roles of certain templates; messages of errors list those that are named in
// the template.
constexpr std::array<std::string_view, 13> kOtherRoles = {
    "function",      "ipython",         "model",         "chatbot",
    "document",      "available_tools", "control",       "thinking",
    "context",       "tool_results",    "tool_response", "observation",
    "tool_responses"};

// Roles may be long; no known one is.
constexpr size_t kLongestCompared = 64;

bool is_role_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string folded_role(std::string_view text) {
  std::string out(text.substr(0, kLongestCompared));
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace

Roles::Roles(std::string_view source, const Dialect& dialect,
             const Trials& trials)
    : source_(source),
      parts_(dialect.content == Dialect::Content::kParts),
      trials_(trials),
      known_(kStandardRoles.begin(), kStandardRoles.end()) {
  for (const std::string_view role : kOtherRoles) {
    if (names(role)) known_.push_back(role);
  }
}

bool Roles::names(std::string_view role) const {
  return source_.find(cat('\'', role, '\'')) != std::string_view::npos ||
         source_.find(cat('"', role, '"')) != std::string_view::npos;
}

std::string_view Roles::nearest(std::string_view role) const {
  // Roles such as user_2 are meant.
  if (!std::all_of(role.begin(), role.end(), is_role_letter)) return {};
  const std::string wanted = folded_role(role);
  const size_t most = std::max<size_t>(1, wanted.size() / 3);
  size_t least = most + 1;
  std::string_view found;
  for (const std::string_view known : known_) {
    size_t far = distance(wanted, known);
    // The beginning of a role, such as "assist".
    if (far > most && wanted.size() > 2 && known.starts_with(wanted)) {
      far = most;
    }
    if (far >= least) continue;
    least = far;
    found = known;
  }
  return found;
}

std::string Roles::trial_message(std::string_view role) const {
  std::string text = cat('"', Trials::kNeedle, '"');
  if (parts_) text = cat(R"([{"type": "text", "text": )", text, "}]");
  return cat(R"({"role": )", json_text(role), R"(, "content": )", text, "}");
}

bool Roles::same(std::string_view role, std::string_view other) const {
  const auto written = trials_.prompt(cat('[', trial_message(role), ']'));
  return written &&
         written == trials_.prompt(cat('[', trial_message(other), ']'));
}

bool Roles::writes(std::string_view role) const {
  // Templates may want other messages before it, or after it.
  const std::string tried = trial_message(role);
  const std::string user = trial_message("user");
  const std::string assistant = trial_message("assistant");
  for (const std::string& messages :
       {cat('[', tried, ']'), cat('[', user, ", ", tried, ']'),
        cat('[', tried, ", ", user, ']'),
        cat('[', user, ", ", assistant, ", ", tried, ']')}) {
    const auto written = trials_.prompt(messages);
    if (!written) continue;
    const size_t at = written->find(role);
    if (at != std::string::npos &&
        written->find(Trials::kNeedle) != std::string::npos) {
      return true;
    }
  }
  return false;
}

bool Roles::accepts(std::string_view role, std::string_view near) const {
  if (near.empty()) return writes(role);
  // Some templates take roles in upper case, too.
  return folded_role(role) == near && same(role, near);
}

void Roles::check(const std::string& role, const std::string& place) {
  if (std::find(known_.begin(), known_.end(), role) != known_.end()) return;
  if (role == kOldRole || (!role.empty() && names(role))) return;
  const std::string_view near = nearest(role);
  if (!role.empty()) {
    const auto [entry, is_new] = written_.try_emplace(role, false);
    if (is_new) {
      // The stack of the caller may be small.
      entry->second = on_deep_stack([&] { return accepts(role, near); });
    }
    if (entry->second) return;
  }
  std::string all;
  for (const std::string_view known : known_) {
    if (!all.empty()) all += ", ";
    all += known;
  }
  fail(RC_E_INVALID_ARGUMENT, place, ".role: ", quote(role),
       " is a role that the chat template does not know; use one of ", all,
       near.empty() ? std::string() : cat("; did you mean ", near, "?"));
}

}  // namespace rc::text::chat
