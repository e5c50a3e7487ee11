// The forms that a chat template expects where the shape of OpenAI's chat
// completions leaves several, found out by trying it.
#pragma once

#include <string>
#include <string_view>

#include "text/chat/replies/reply_format.h"
#include "text/chat/template.h"

namespace rc::text::chat {

struct Dialect {
  enum class Content : unsigned char {
    kEither,  // text or parts, as they are given
    kText,    // text only: parts are joined
    kParts,   // parts only: text becomes one of them
  };
  Content content = Content::kEither;
  // Arguments of calls are JSON text; otherwise they are objects.
  bool arguments_as_text = false;
  // Calls come with the content ""; otherwise null, or none, is understood.
  bool empty_content = false;
  // The substitute for the text of an answer that has neither text nor calls,
  // where the template refuses "".
  enum class EmptyAnswer : unsigned char { kNothing, kEmptyPart, kSpace };
  EmptyAnswer empty_answer = EmptyAnswer::kNothing;
  // Knows messages of the role "developer"; otherwise they are of "system".
  bool knows_developer = false;
  bool knows_tools = false;
  // Writes calls, also if it knows no tools.
  bool knows_calls = false;
  // The format in which calls become a part of the content, where the template
  // knows tools and writes no calls; nullptr: they don't.
  const ReplyFormat* calls_as_content = nullptr;
  // Shows a message of the role "system"; found out where tools are not known.
  bool takes_system = true;
  // Takes one call in a message: further calls become separate messages.
  bool one_call = false;
  // Takes only ids of nine letters and digits.
  bool short_ids = false;
  // Refuses a message with calls that has both text and reasoning: the text
  // becomes a part of the reasoning.
  bool text_is_reasoning = false;
  // The member of a message that holds its reasoning; "": none.
  std::string reasoning_key = {};
};

// Tries the template, whose text `source` is, on small conversations.
// `special` are the entries that every rendering of it gets.
Dialect find_dialect(const Template& chat, std::string_view source,
                     const std::vector<std::pair<Value, Value>>& special);

// Whether a name is among the words of a template.
bool names_word(std::string_view source, std::string_view word);

}  // namespace rc::text::chat
