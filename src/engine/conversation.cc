#include "engine/conversation.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "text/chat/conversation.h"
#include "text/chat/replies/answer.h"

namespace rc::engine {
namespace {

using text::chat::ReplyEvent;

JsonValue array_of(JsonValue value) {
  if (value.is(JsonValue::Type::kArray)) return value;
  JsonValue array{.type = JsonValue::Type::kArray};
  array.items.push_back(std::move(value));
  return array;
}

rc_event_type event_type(ReplyEvent::Type type) {
  switch (type) {
    case ReplyEvent::Type::kText:
      return RC_EVENT_PIECE;
    case ReplyEvent::Type::kReasoning:
      return RC_EVENT_REASONING;
    case ReplyEvent::Type::kCallBegin:
      return RC_EVENT_CALL_BEGIN;
    case ReplyEvent::Type::kCallArguments:
      return RC_EVENT_CALL_ARGUMENTS;
    case ReplyEvent::Type::kCallEnd:
      return RC_EVENT_CALL;
    case ReplyEvent::Type::kMalformed:
      break;
  }
  return RC_EVENT_MALFORMED_CALL;
}

}  // namespace

// The prompt of an answer.
class Conversation::AnswerPrompt final : public PromptMaker {
 public:
  AnswerPrompt(std::shared_ptr<Conversation> conversation, AnswerRules rules,
               bool has_grammar)
      : conversation_(std::move(conversation)),
        history_(conversation_->history_),
        rules_(std::move(rules)),
        has_grammar_(has_grammar) {
    history_->readers.fetch_add(1);
  }
  ~AnswerPrompt() override { forget_history(); }
  AnswerPrompt(const AnswerPrompt&) = delete;
  AnswerPrompt& operator=(const AnswerPrompt&) = delete;

  WholePrompt make(const SessionOptions& session, int64_t room,
                   const std::function<bool()>& should_stop) override {
    const ConversationOptions& options = conversation_->options_;
    text::chat::PromptOptions prompt_options;
    prompt_options.thinking = options.thinking;
    prompt_options.now = options.now;
    if (options.arguments) prompt_options.arguments = &*options.arguments;
    prompt_options.should_stop = should_stop;
    if (!session.shift_when_full) {
      prompt_options.context_length =
          static_cast<size_t>(session.context_length);
      prompt_options.room = static_cast<size_t>(room);
    }
    text::chat::Prompt prompt = options.chat->render(
        history_->messages, options.tools ? &*options.tools : nullptr,
        prompt_options);
    forget_history();
    WholePrompt made;
    if (!has_grammar_) {
      made.grammar =
          conversation_->grammar_for(rules_, prompt.text, should_stop);
    }
    strict_ = made.grammar != nullptr;
    made.tokens = std::move(prompt.tokens);
    text_ = std::move(prompt.text);
    return made;
  }

  // The text of the prompt, once the model generates.
  const std::string& text() const { return text_; }
  // Whether a grammar was made from the rules.
  bool strict() const { return strict_; }

  bool may_call() const {
    return rules_.tool_choice.kind != text::chat::ToolChoice::Kind::kNone &&
           !rules_.response_schema;
  }

 private:
  void forget_history() {
    if (history_ != nullptr) history_->readers.fetch_sub(1);
    history_.reset();
  }

  const std::shared_ptr<Conversation> conversation_;
  std::shared_ptr<History> history_;
  const AnswerRules rules_;
  const bool has_grammar_;
  std::string text_;
  bool strict_ = false;
};

// Divides what is generated into what it means.
class Conversation::AnswerListener final : public Listener {
 public:
  AnswerListener(std::shared_ptr<Conversation> conversation,
                 std::shared_ptr<const AnswerPrompt> prompt, size_t calls,
                 std::shared_ptr<Listener> listener)
      : conversation_(std::move(conversation)),
        prompt_(std::move(prompt)),
        listener_(std::move(listener)),
        answer_(calls) {}

  void piece(Piece piece) override {
    if (!parser_) begin();
    parser_->feed(piece.text, &events_);
    const text::Tokenizer& tokenizer = *conversation_->tokenizer_;
    for (const TokenId token : piece.tokens) {
      if (tokenizer.token_type(token) == text::TokenType::kControl) {
        parser_->feed_special(tokenizer.token_text(token), &events_);
      }
    }
    deliver(std::move(piece));
  }

  void end(const rc_generate_report& report,
           const char* message) noexcept override {
    rc_generate_report outcome = report;
    std::optional<JsonValue> said;
    try {
      if (parser_) {
        parser_->finish(&events_);
        deliver({});
      }
      const bool came = report.status == RC_OK && report.generated_tokens > 0;
      if (came || !answer_.empty()) said = answer_.message();
      if (report.reason == RC_END_STOP && answer_.has_calls()) {
        outcome.reason = RC_END_TOOL_CALLS;
      }
    } catch (...) {
      // Parsers throw nothing else.
      if (report.status == RC_OK) {
        outcome.reason = RC_END_ERROR;
        outcome.status = RC_E_OUT_OF_MEMORY;
        message = "out of memory: the end of the answer is lost";
      }
    }
    const bool whole = conversation_->answered(std::move(said));
    if (!whole && outcome.status == RC_OK) {
      outcome.reason = RC_END_ERROR;
      outcome.status = RC_E_OUT_OF_MEMORY;
      message = "out of memory: the answer is not among the messages";
    }
    conversation_.reset();
    prompt_.reset();
    listener_->end(outcome, message);
  }

 private:
  // The model generates, so its prompt is there.
  void begin() {
    parser_.emplace(
        conversation_->reply_format(),
        text::chat::ReplyOptions{
            .is_special =
                [this](std::string_view name) {
                  return conversation_->options_.chat->is_special(name);
                },
            .prompt = prompt_->text(),
            .tools = conversation_->tool_types_,
            .calls = prompt_->may_call(),
            .strict = prompt_->strict()});
  }

  // Hands the events on; the first has the tokens of the piece, which are
  // delivered of even if they are none yet.
  void deliver(Piece piece) {
    std::vector<ReplyEvent> events;
    events.swap(events_);
    bool delivered = piece.tokens.empty();
    for (ReplyEvent& event : events) {
      answer_.add(&event);
      Piece part;
      if (!delivered) part = std::move(piece);
      delivered = true;
      part.type = event_type(event.type);
      part.text = std::move(event.text);
      if (event.type != ReplyEvent::Type::kText &&
          event.type != ReplyEvent::Type::kReasoning) {
        part.call =
            event.call == SIZE_MAX ? -1 : static_cast<int64_t>(event.call);
        part.name = std::move(event.name);
        part.id = std::move(event.id);
      }
      listener_->piece(std::move(part));
    }
    if (delivered) return;
    piece.text.clear();
    listener_->piece(std::move(piece));
  }

  std::shared_ptr<Conversation> conversation_;
  std::shared_ptr<const AnswerPrompt> prompt_;
  const std::shared_ptr<Listener> listener_;
  std::optional<text::chat::ReplyParser> parser_;  // once there is a piece
  text::chat::Answer answer_;
  std::vector<ReplyEvent> events_;
};

std::shared_ptr<Conversation> Conversation::create(
    std::shared_ptr<Session> session, ConversationOptions options) {
  if (session->engine()->file().tokenizer() == nullptr) {
    fail(RC_E_UNSUPPORTED,
         "a conversation with a model that has no tokenizer: it has no text");
  }
  if (session->engine()->file().source() != nullptr) {
    fail(RC_E_UNSUPPORTED, session->engine()->file().file().name(),
         ": the model generates from one source, so it has no conversations; "
         "give the text as a prompt");
  }
  return std::shared_ptr<Conversation>(
      new Conversation(std::move(session), std::move(options)));
}

Conversation::Conversation(std::shared_ptr<Session> session,
                           ConversationOptions options)
    : session_(std::move(session)),
      tokenizer_(session_->engine()->file().tokenizer()),
      options_(std::move(options)),
      tool_types_(options_.tools ? text::chat::ToolTypes(*options_.tools)
                                 : text::chat::ToolTypes()),
      history_(std::make_shared<History>()) {
  history_->messages.type = JsonValue::Type::kArray;
}

void Conversation::check_idle() const {
  if (!answering_) return;
  fail(RC_E_BUSY,
       "an answer of the conversation is under way: wait for its "
       "end, or cancel it");
}

JsonValue& Conversation::editable_messages() {
  if (history_->readers.load() > 0) {
    auto copy = std::make_shared<History>();
    copy->messages = history_->messages;
    history_ = std::move(copy);
  }
  return history_->messages;
}

void Conversation::add(JsonValue messages) {
  JsonValue added = array_of(std::move(messages));
  const std::lock_guard lock(mutex_);
  check_idle();
  options_.chat->check_messages(added, history_->messages);
  JsonValue& all = editable_messages();
  all.items.reserve(all.items.size() + added.items.size());
  for (JsonValue& message : added.items) {
    all.items.push_back(std::move(message));
  }
}

void Conversation::undo(size_t count) {
  const std::lock_guard lock(mutex_);
  check_idle();
  const size_t there = history_->messages.items.size();
  if (count > there) {
    fail(RC_E_INVALID_ARGUMENT, "count: ", count,
         " messages to forget, but the conversation has ", there);
  }
  editable_messages().items.resize(there - count);
}

JsonValue Conversation::messages() const {
  const std::lock_guard lock(mutex_);
  check_idle();
  return history_->messages;
}

std::shared_ptr<Conversation> Conversation::fork() {
  const std::lock_guard lock(mutex_);
  check_idle();
  std::shared_ptr<Conversation> made = create(session_->fork(), options_);
  made->history_->messages = history_->messages;
  made->calls_ = calls_;
  return made;
}

const text::chat::ReplyFormat& Conversation::reply_format() const {
  return options_.chat->reply_format(options_.tools ? &*options_.tools
                                                    : nullptr);
}

Conversation::GrammarPtr Conversation::grammar_for(
    const AnswerRules& rules, std::string_view prompt,
    const std::function<bool()>& should_stop) {
  const text::chat::ChatTemplate& chat = *options_.chat;
  text::chat::AnswerBegin begin;
  begin.within_reasoning =
      text::chat::begins_within_reasoning(reply_format(), prompt);
  begin.may_reason = chat.knows_reasoning() && options_.thinking.value_or(true);
  {
    const std::lock_guard lock(mutex_);
    if (grammar_ != nullptr && grammar_rules_ == rules &&
        grammar_begin_ == begin) {
      return grammar_;
    }
  }
  const auto is_special = [&](std::string_view name) {
    return chat.is_special(name);
  };
  GrammarPtr made;
  if (rules.response_schema) {
    made = text::chat::response_grammar(reply_format(), *rules.response_schema,
                                        begin, *tokenizer_, is_special,
                                        should_stop);
  } else {
    made = text::chat::call_grammar(
        reply_format(), options_.tools ? &*options_.tools : nullptr,
        rules.tool_choice, begin, *tokenizer_, is_special, should_stop);
  }
  AnswerRules kept = rules;
  const std::lock_guard lock(mutex_);
  grammar_ = made;
  grammar_rules_ = std::move(kept);
  grammar_begin_ = begin;
  return made;
}

std::shared_ptr<Request> Conversation::answer(
    RequestOptions options, std::shared_ptr<Listener> listener,
    AnswerRules rules) {
  using Choice = text::chat::ToolChoice::Kind;
  const bool free =
      rules.tool_choice.kind == Choice::kAuto && !rules.response_schema;
  if (options.grammar != nullptr && !free) {
    fail(RC_E_INVALID_ARGUMENT,
         "grammar: an answer keeps to one grammar; give it, a tool_choice, or "
         "a response_format");
  }
  if (rules.response_schema && rules.tool_choice.kind == Choice::kRequired) {
    fail(RC_E_INVALID_ARGUMENT,
         "tool_choice: an answer with a response_format has no calls; ask for "
         "the one or the other");
  }
  text::chat::check_tool_choice(options_.tools ? &*options_.tools : nullptr,
                                rules.tool_choice);
  options.prompt.clear();
  options.tokenize_flags = 0;
  options.control_divides = true;
  std::shared_ptr<AnswerListener> divider;
  {
    const std::lock_guard lock(mutex_);
    check_idle();
    if (history_->messages.items.empty()) {
      fail(RC_E_INVALID_ARGUMENT,
           "messages: an empty array; give at least one");
    }
    const auto prompt = std::make_shared<AnswerPrompt>(
        shared_from_this(), std::move(rules), options.grammar != nullptr);
    divider = std::make_shared<AnswerListener>(shared_from_this(), prompt,
                                               calls_, std::move(listener));
    options.prompt_maker = prompt;
    answering_ = true;
  }
  try {
    return session_->generate(std::move(options), std::move(divider));
  } catch (...) {
    const std::lock_guard lock(mutex_);
    answering_ = false;
    throw;
  }
}

bool Conversation::answered(std::optional<JsonValue> message) noexcept {
  const std::lock_guard lock(mutex_);
  answering_ = false;
  if (!message) return true;
  try {
    if (const JsonValue* calls = message->find("tool_calls")) {
      calls_ += calls->items.size();
    }
    editable_messages().items.push_back(std::move(*message));
  } catch (...) {
    return false;
  }
  return true;
}

}  // namespace rc::engine
