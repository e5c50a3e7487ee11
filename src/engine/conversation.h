// A conversation over a session: its messages, and answers to them.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/json_value.h"
#include "engine/engine.h"
#include "text/chat/calls/call_grammar.h"
#include "text/chat/chat_template.h"
#include "text/chat/replies/reply_parser.h"

namespace rc::engine {

struct ConversationOptions {
  std::shared_ptr<const text::chat::ChatTemplate> chat;
  std::optional<JsonValue> tools;
  std::optional<JsonValue> arguments;  // of the template
  std::optional<bool> thinking;
  // For the whole conversation, so that no prompt changes with the clock.
  text::chat::LocalTime now;
};

// The rules of an answer besides those of its RequestOptions.
struct AnswerRules {
  text::chat::ToolChoice tool_choice = {};
  std::optional<JsonValue> response_schema = {};
  bool operator==(const AnswerRules&) const = default;
};

// Thread-safe. While an answer is under way every other call fails with
// RC_E_BUSY.
class Conversation : public std::enable_shared_from_this<Conversation> {
 public:
  // The tokens that the session contains are used as far as they equal those
  // that the template makes of the messages. Throws RC_E_UNSUPPORTED if the
  // model has no tokenizer.
  static std::shared_ptr<Conversation> create(std::shared_ptr<Session> session,
                                              ConversationOptions options);

  // Adds messages: an object, or an array of them. Throws as
  // ChatTemplate::check_messages does; then none was added.
  void add(JsonValue messages);
  // Forgets the last `count` messages. RC_E_INVALID_ARGUMENT if there are
  // fewer.
  void undo(size_t count);
  // All of them, an array.
  JsonValue messages() const;
  // A second conversation with the same messages, over a fork of the session.
  std::shared_ptr<Conversation> fork();

  // Lets the model answer; only what the session does not hold yet is
  // evaluated. `options` are without a prompt: it is rendered and tokenized,
  // and grammars are compiled, on a thread for it. The listener receives text,
  // reasoning and calls as they become certain, each as a piece of its type;
  // before the end the answer is among the messages as far as it came, unless
  // that is nothing. An answer that stopped after calls ends with
  // RC_END_TOOL_CALLS. What ChatTemplate::render, call_grammar and
  // response_grammar throw ends the request. Throws RC_E_INVALID_ARGUMENT if
  // there are no messages, if the options have a grammar and the rules ask for
  // another, and what check_tool_choice throws.
  std::shared_ptr<Request> answer(RequestOptions options,
                                  std::shared_ptr<Listener> listener,
                                  AnswerRules rules = {});

 private:
  class AnswerListener;
  class AnswerPrompt;
  using GrammarPtr = std::shared_ptr<const text::grammar::Grammar>;

  // Messages that prompts are made of while others may be added.
  struct History {
    JsonValue messages;  // an array
    std::atomic<size_t> readers{0};
  };

  Conversation(std::shared_ptr<Session> session, ConversationOptions options);
  void check_idle() const;  // under the lock, as the next one
  // The messages, to be changed; a copy, if a prompt is being made of them.
  JsonValue& editable_messages();
  const text::chat::ReplyFormat& reply_format() const;
  // Returns the grammar of the rules; nullptr: the model need not keep to any.
  GrammarPtr grammar_for(const AnswerRules& rules, std::string_view prompt,
                         const std::function<bool()>& should_stop);
  // False: there was no memory for it.
  bool answered(std::optional<JsonValue> message) noexcept;

  const std::shared_ptr<Session> session_;
  const std::shared_ptr<const text::Tokenizer> tokenizer_;
  const ConversationOptions options_;
  const text::chat::ToolTypes tool_types_;

  mutable std::mutex mutex_;
  std::shared_ptr<History> history_;
  size_t calls_ = 0;  // of the answers so far
  bool answering_ = false;
  // The last grammar that rules asked for, and what for.
  GrammarPtr grammar_;
  AnswerRules grammar_rules_;
  text::chat::AnswerBegin grammar_begin_;
};

}  // namespace rc::engine
