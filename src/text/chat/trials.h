// Small conversations on which a chat template is tried, to find out what it
// does with them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/chat/template.h"

namespace rc::text::chat {

// The most bytes that a template may write of the few words of a trial: several
// times the largest source.
inline constexpr size_t kMostTrialBytes = size_t{4} << 20;

class Trials {
 public:
  // A text that occurs in no template.
  static constexpr std::string_view kNeedle = "needle_in_the_prompt";

  // `special` are the entries that every rendering of the template gets. Both
  // have to live longer than this. `should_stop` is as in RenderOptions.
  Trials(const Template& chat,
         const std::vector<std::pair<Value, Value>>& special,
         std::function<bool()> should_stop = {});

  // Returns the prompt, or nothing if the template refuses the conversation,
  // which is JSON.
  std::optional<std::string> prompt(const std::string& messages) const;

  // Whether the template shows a content, which is JSON, as a text.
  bool shows_content(const std::string& content) const;

  // Whether it shows the text of a system message.
  bool shows_system() const;

  struct Calls {
    std::string arguments;  // as JSON, as the members below
    std::string content = "null";
    std::string id = "abcdef123";
    std::string other_arguments = {};  // of a second call; "": there is none
    std::string more = {};             // members of the message
  };

  // As `prompt`, of a conversation with calls and their results.
  std::optional<std::string> prompt_of_calls(const Calls& calls) const;

 private:
  std::optional<std::string> prompt(const std::string& messages,
                                    Value tools) const;

  const Template& chat_;
  const std::vector<std::pair<Value, Value>>& special_;
  const std::function<bool()> should_stop_;
};

}  // namespace rc::text::chat
