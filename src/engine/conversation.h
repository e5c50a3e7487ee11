// A conversation over a session: its messages, and answers to them.
#pragma once

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

// What an answer has to be, beside what its RequestOptions say.
struct AnswerRules {
  text::chat::ToolChoice tool_choice = {};
  std::optional<JsonValue> response_schema = {};
  bool operator==(const AnswerRules&) const = default;
};

// Thread-safe. While an answer is under way every other call fails with
// RC_E_BUSY.
class Conversation : public std::enable_shared_from_this<Conversation> {
 public:
  // What the session holds already is used as far as it is what the template
  // makes of the messages. Throws RC_E_UNSUPPORTED if the model has no
  // tokenizer.
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

  // Writes the messages down and lets the model answer; only what the session
  // does not hold yet is evaluated. `options` are without a prompt. The
  // listener hears of text, reasoning and calls as they become certain, each
  // as a piece of its type; before the end the answer is among the messages as
  // far as it came, unless that is nothing. An answer that stopped after calls
  // ends with RC_END_TOOL_CALLS. Blocks while the prompt is made, at most until
  // the deadline. A prompt that cannot fit into the context, and a deadline
  // that passes, end the request. Throws what
  // ChatTemplate::render, call_grammar and response_grammar throw, and
  // RC_E_INVALID_ARGUMENT if the options have a grammar and the rules ask for
  // another.
  std::shared_ptr<Request> answer(RequestOptions options,
                                  std::shared_ptr<Listener> listener,
                                  AnswerRules rules = {});

 private:
  class AnswerListener;
  using GrammarPtr = std::shared_ptr<const text::grammar::Grammar>;

  Conversation(std::shared_ptr<Session> session, ConversationOptions options);
  void check_idle() const;  // under the lock, as the next one
  // Writes the messages down, truncates the session to what it shares with
  // them, completes the options of the request with the rest, and returns the
  // text. Throws RC_E_CANCELLED if the deadline passes, and RC_E_CONTEXT_FULL.
  std::string prepare(const AnswerRules& rules, RequestOptions* options);
  const text::chat::ReplyFormat& reply_format() const;
  GrammarPtr grammar_for(const AnswerRules& rules, std::string_view prompt,
                         const std::function<bool()>& should_stop);
  // False: there was no memory for it.
  bool answered(std::optional<JsonValue> message) noexcept;

  const std::shared_ptr<Session> session_;
  const std::shared_ptr<const text::Tokenizer> tokenizer_;
  const ConversationOptions options_;
  const text::chat::ToolTypes tool_types_;

  mutable std::mutex mutex_;
  JsonValue messages_;  // an array
  size_t calls_ = 0;    // of the answers so far
  bool answering_ = false;
  // The last grammar that rules asked for, and what for.
  GrammarPtr grammar_;
  AnswerRules grammar_rules_;
  text::chat::AnswerBegin grammar_begin_;
};

}  // namespace rc::engine
