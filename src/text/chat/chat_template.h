// From a conversation to the tokens of a prompt.
//
//   const auto chat = ChatTemplate::create(source, tokenizer);
//   const Prompt prompt = chat->render(messages, nullptr, {});
//
// Text of messages, tools and arguments never becomes a special token: the
// names of those count only where the template wrote every byte of them.
// Everything else is tokenized in one go, so that prompts without such names
// give the tokens that the library transformers gives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_value.h"
#include "text/chat/dialect.h"
#include "text/chat/find_format.h"
#include "text/chat/template.h"
#include "text/tokenizer.h"

namespace rc::text::chat {

struct PromptOptions {
  // End with what begins an answer of the assistant, where the template has
  // such an end.
  bool add_generation_prompt = true;
  // End within the last message, after its text, for the model to go on there;
  // nothing is added after it then.
  bool continue_last = false;
  // For models that can do both: think before they answer, or not. Sets the
  // variables under which templates know this: enable_thinking, thinking and,
  // to turn it off, thinking_budget.
  std::optional<bool> thinking = {};
  // More variables of the template, an object; they count as content. nullptr:
  // none.
  const JsonValue* arguments = nullptr;
  // The present time for the template.
  std::optional<LocalTime> now = {};
  // The tokens that the context holds, and those of them that are to be left
  // free. A text that cannot have so few tokens is refused while it is
  // rendered, except with continue_last.
  size_t context_length = SIZE_MAX;
  size_t room = 0;
  // Asked about every millisecond; true: render throws RC_E_CANCELLED.
  std::function<bool()> should_stop = {};
};

// A part of a prompt that comes from messages, tools or arguments.
struct ContentRange {
  Span bytes;
  Span tokens;  // those that stand for a byte of it, also in part
};

struct Prompt {
  std::string text;
  std::vector<TokenId> tokens;
  std::vector<ContentRange> content;  // in order
};

// Immutable: any number of threads may use one.
class ChatTemplate {
 public:
  // Parses a template and tries it. Throws as Template::parse does.
  static std::shared_ptr<const ChatTemplate> create(
      std::string_view source, std::shared_ptr<const Tokenizer> tokenizer);

  // `messages` and `tools` (nullptr: none) have the format of OpenAI's chat
  // completions; see conversation.h. Throws RC_E_INVALID_ARGUMENT if a message
  // or tool is malformed, with its place, or if the template refuses it;
  // RC_E_UNSUPPORTED if a limit is exceeded; RC_E_FORMAT for errors in the
  // template; RC_E_CONTEXT_FULL if the prompt does not fit in the context.
  Prompt render(const JsonValue& messages, const JsonValue* tools,
                const PromptOptions& options) const;

  // Throws what render throws for such messages that come after those of
  // `earlier`, an array.
  void check_messages(const JsonValue& messages,
                      const JsonValue& earlier) const;

  // Throws what render throws for such tools and arguments.
  void check(const JsonValue* tools, const JsonValue* arguments) const;

  const Dialect& dialect() const { return dialect_; }
  // Returns the format in which models of this template write reasoning and
  // calls. If there are `tools` (nullptr: none) and the template knows none, it
  // is "appended": their description, which is added to the messages, states
  // how to call them.
  const ReplyFormat& reply_format(const JsonValue* tools = nullptr) const;
  // The name of that format; "none" if it has no calls.
  std::string_view call_format(const JsonValue* tools) const;
  // Whether such models may reason before they answer, unless the request
  // forbids it.
  bool knows_reasoning() const { return knows_reasoning_; }
  // Whether a name is that of a control token.
  bool is_special(std::string_view name) const;

 private:
  ChatTemplate(std::string_view source,
               std::shared_ptr<const Tokenizer> tokenizer);
  void find_reply_format(std::string_view source);
  Value tool_list(const JsonValue* tools) const;
  Value checked_messages(const JsonValue& messages, const JsonValue* earlier,
                         const std::function<bool()>& should_stop) const;
  Value message_list(const JsonValue& messages, const JsonValue* tools,
                     const std::function<bool()>& should_stop) const;
  Value variables(const JsonValue& messages, const JsonValue* tools,
                  const PromptOptions& options) const;
  Rendered render_text(const Value& variables,
                       const PromptOptions& options) const;
  Prompt tokenize(Rendered rendered,
                  const std::function<bool()>& should_stop) const;

  std::shared_ptr<const Tokenizer> tokenizer_;
  const std::string source_;
  Template template_;
  // The variables bos_token and its like.
  std::vector<std::pair<Value, Value>> special_;
  Dialect dialect_;
  FoundFormat found_;
  ReplyFormat format_of_texts_;  // where the template knows no tools
  bool knows_reasoning_;
  std::vector<std::string_view> special_names_;  // sorted
  // User-defined tokens that are marks of the template, such as <tool_call>:
  // as special as control tokens. Sorted.
  std::vector<TokenId> marks_;
};

}  // namespace rc::text::chat
