#include "text/chat/chat_template.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/quote.h"
#include "text/chat/calls_as_content.h"
#include "text/chat/containers.h"
#include "text/chat/conversation.h"
#include "text/chat/from_json.h"
#include "text/chat/tools_as_text.h"

namespace rc::text::chat {
namespace {

constexpr std::string_view kSpaces = " \t\r\n\f\v";

// User-defined tokens are also runs of spaces, words and tags of HTML, which
// models are to find in what they read. A mark is one that looks like the names
// of control tokens, or like a tag that the template itself writes.
bool is_mark(std::string_view name, std::string_view source) {
  if (name.size() < 3 || name.find_first_of(kSpaces) != name.npos) return false;
  const bool bracketed = (name.front() == '<' && name.back() == '>') ||
                         (name.front() == '[' && name.back() == ']');
  if (!bracketed) return false;
  return name[1] == '|' || name[name.size() - 2] == '|' ||
         source.find(name) != std::string_view::npos;
}

std::vector<TokenId> find_marks(const Tokenizer& tokenizer,
                                std::string_view source) {
  std::vector<TokenId> marks;
  for (TokenId id = 0; id < tokenizer.size(); ++id) {
    if (tokenizer.token_type(id) == TokenType::kUserDefined &&
        is_mark(tokenizer.token_text(id), source)) {
      marks.push_back(id);
    }
  }
  return marks;
}

std::vector<std::string_view> find_special_names(const Tokenizer& tokenizer) {
  std::vector<std::string_view> names;
  for (TokenId id = 0; id < tokenizer.size(); ++id) {
    if (tokenizer.token_type(id) == TokenType::kControl) {
      names.push_back(tokenizer.token_text(id));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

void set(std::string_view name, Value value,
         std::vector<Dict::Entry>* entries) {
  entries->emplace_back(Value::string(name, Origin::kTemplate),
                        std::move(value));
}

bool any(const JsonValue* tools) {
  return tools != nullptr &&
         !(tools->is(JsonValue::Type::kArray) && tools->items.empty());
}

void add_arguments(const JsonValue& arguments,
                   std::vector<Dict::Entry>* entries) {
  if (!arguments.is(JsonValue::Type::kObject)) {
    fail(RC_E_INVALID_ARGUMENT, "template arguments: ", type_name(arguments),
         ", but they must be an object");
  }
  for (const auto& [name, value] : arguments.members) {
    for (const std::string_view taken :
         {"messages", "tools", "add_generation_prompt"}) {
      if (name == taken) {
        fail(RC_E_INVALID_ARGUMENT, "template arguments: ", quote(name),
             " is given in another way");
      }
    }
    set(name, from_json(value, Origin::kContent), entries);
  }
}

// The text without spaces before or after it.
std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kSpaces);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin);
}

// The end of the last place where the text of a message, which templates may
// trim, is in the prompt as content.
size_t end_of_message(const Rendered& rendered, std::string_view text) {
  const std::string_view prompt = rendered.text;
  const std::string_view least = trimmed(text);
  const std::string_view most = text.substr(text.find(least));
  for (auto span = rendered.content.rbegin(); span != rendered.content.rend();
       ++span) {
    const std::string_view part =
        prompt.substr(span->begin, span->end - span->begin);
    const size_t at = part.rfind(least);
    if (at == part.npos) continue;
    const bool whole = part.substr(at, most.size()) == most;
    return span->begin + at + (whole ? most.size() : least.size());
  }
  fail(RC_E_INVALID_ARGUMENT,
       "messages: the template does not show the text of the last one as it "
       "is, so that it cannot be continued");
}

void cut(size_t end, Rendered* rendered) {
  rendered->text.resize(end);
  std::erase_if(rendered->content,
                [&](const Span& span) { return span.begin >= end; });
  if (!rendered->content.empty()) {
    Span& last = rendered->content.back();
    last.end = std::min(last.end, end);
  }
}

// Which tokens stand for bytes of the span; the places of tokens are in order.
Span tokens_of(const Span& bytes, const std::vector<Span>& places) {
  const auto first = std::partition_point(
      places.begin(), places.end(),
      [&](const Span& place) { return place.end <= bytes.begin; });
  const auto last = std::partition_point(
      first, places.end(),
      [&](const Span& place) { return place.begin < bytes.end; });
  return {static_cast<size_t>(first - places.begin()),
          static_cast<size_t>(last - places.begin())};
}

// Whether the mark that begins reasoning is in the template.
bool writes_reasoning(const ReplyFormat& format, std::string_view source) {
  std::string_view begin = format.reasoning_begin;
  if (begin.empty()) begin = format.reasoning_header;
  begin = begin.substr(0, begin.find_last_not_of(kSpaces) + 1);
  return !begin.empty() && source.find(begin) != source.npos;
}

}  // namespace

std::shared_ptr<const ChatTemplate> ChatTemplate::create(
    std::string_view source, std::shared_ptr<const Tokenizer> tokenizer) {
  return std::shared_ptr<const ChatTemplate>(
      new ChatTemplate(source, std::move(tokenizer)));
}

ChatTemplate::ChatTemplate(std::string_view source,
                           std::shared_ptr<const Tokenizer> tokenizer)
    : tokenizer_(std::move(tokenizer)),
      source_(source),
      template_(Template::parse(source)) {
  const auto add = [&](std::string_view name, TokenId id) {
    set(name, Value::string(tokenizer_->token_text(id), Origin::kTemplate),
        &special_);
  };
  add("bos_token", tokenizer_->bos());
  add("eos_token", tokenizer_->eos());
  add("unk_token", tokenizer_->unknown());
  dialect_ = find_dialect(template_, source, special_);
  find_reply_format(source);
  if (dialect_.knows_tools && !dialect_.knows_calls &&
      may_be_content(*found_.format)) {
    dialect_.calls_as_content = found_.format;
  }
  format_of_texts_ = *chat::reply_format(kFormatOfTexts);
  format_of_texts_.name = "appended";
  format_of_texts_.reasoning_begin = found_.format->reasoning_begin;
  format_of_texts_.reasoning_end = found_.format->reasoning_end;
  knows_reasoning_ = writes_reasoning(*found_.format, source);
  marks_ = find_marks(*tokenizer_, source);
  special_names_ = find_special_names(*tokenizer_);
}

void ChatTemplate::find_reply_format(std::string_view source) {
  FormatTrial trial;
  trial.render = [this](const JsonValue& messages, const JsonValue& tools,
                        bool begins_answer) {
    PromptOptions options;
    options.add_generation_prompt = begins_answer;
    RenderOptions render_options;
    render_options.now = LocalTime{};
    render_options.most_bytes = kMostTrialBytes;
    return template_
        .render(variables(messages, dialect_.knows_tools ? &tools : nullptr,
                          options),
                render_options)
        .text;
  };
  trial.several_calls = !dialect_.one_call;
  for (TokenId id = 0; id < tokenizer_->size(); ++id) {
    const std::string_view name = tokenizer_->token_text(id);
    if (tokenizer_->is_end(id) && !name.empty()) trial.ends.push_back(name);
  }
  found_ = find_format(source, trial);
}

bool ChatTemplate::is_special(std::string_view name) const {
  return std::binary_search(special_names_.begin(), special_names_.end(), name);
}

Value ChatTemplate::tool_list(const JsonValue* tools) const {
  if (!any(tools)) return Value::none();
  Value list = tools_value(*tools);
  return dialect_.knows_tools ? std::move(list) : Value::none();
}

// Where the template has no place for tools or calls, they become texts.
Value ChatTemplate::message_list(
    const JsonValue& messages, const JsonValue* tools,
    const std::function<bool()>& should_stop) const {
  Value list = checked_messages(messages, nullptr, should_stop);
  const bool as_text = any(tools) ? !dialect_.knows_tools
                                  : !dialect_.knows_calls &&
                                        dialect_.calls_as_content == nullptr &&
                                        has_calls(messages);
  if (!as_text) return list;
  return messages_value(
      with_tools_as_text(messages, tools, dialect_.takes_system), dialect_);
}

std::string_view ChatTemplate::call_format(const JsonValue* tools) const {
  const ReplyFormat& format = reply_format(tools);
  return format.shape == CallShape::kNone ? "none" : format.name;
}

const ReplyFormat& ChatTemplate::reply_format(const JsonValue* tools) const {
  const bool as_text = !dialect_.knows_tools && any(tools);
  return as_text ? format_of_texts_ : *found_.format;
}

Value ChatTemplate::checked_messages(
    const JsonValue& messages, const JsonValue* earlier,
    const std::function<bool()>& should_stop) const {
  const Trials trials(template_, special_, should_stop);
  Roles roles(source_, dialect_, trials);
  MessageChecks checks(&roles);
  if (earlier != nullptr) {
    for (const JsonValue& message : earlier->items) checks.remember(message);
  }
  return messages_value(messages, dialect_, &checks);
}

void ChatTemplate::check_messages(const JsonValue& messages,
                                  const JsonValue& earlier) const {
  // Only for what it throws.
  static_cast<void>(checked_messages(messages, &earlier, {}));
}

void ChatTemplate::check(const JsonValue* tools,
                         const JsonValue* arguments) const {
  static_cast<void>(tool_list(tools));
  std::vector<Dict::Entry> entries;
  if (arguments != nullptr) add_arguments(*arguments, &entries);
}

Value ChatTemplate::variables(const JsonValue& messages, const JsonValue* tools,
                              const PromptOptions& options) const {
  std::vector<Dict::Entry> entries = special_;
  set("documents", Value::none(), &entries);
  if (options.thinking) {
    set("enable_thinking", Value::boolean(*options.thinking), &entries);
    set("thinking", Value::boolean(*options.thinking), &entries);
    if (!*options.thinking) {
      set("thinking_budget", Value::integer(0), &entries);
    }
  }
  if (options.arguments != nullptr) add_arguments(*options.arguments, &entries);
  Value list = tool_list(tools);
  set("messages", message_list(messages, tools, options.should_stop), &entries);
  set("tools", std::move(list), &entries);
  set("add_generation_prompt",
      Value::boolean(options.add_generation_prompt && !options.continue_last),
      &entries);
  return make_dict(nullptr, std::move(entries));
}

Rendered ChatTemplate::render_text(const Value& variables,
                                   const PromptOptions& options) const {
  RenderOptions render_options;
  render_options.now = options.now;
  render_options.should_stop = options.should_stop;
  if (!options.continue_last) {
    render_options.most_bytes =
        tokenizer_->most_bytes(options.context_length -
                               std::min(options.room, options.context_length));
  }
  try {
    return template_.render(variables, render_options);
  } catch (const Error& error) {
    if (error.status() != RC_E_CONTEXT_FULL) throw;
    const size_t most = render_options.most_bytes;
    fail(RC_E_CONTEXT_FULL, "messages: the template writes more than ", most,
         " bytes, which are at least ", tokenizer_->least_tokens(most + 1),
         " tokens and do not fit into the session",
         options.room > 0 ? cat(" with ", options.room, " to generate")
                          : std::string(),
         ": its context holds ", options.context_length,
         "; shorten the conversation, let the "
         "session shift, or load the model with a larger context_length");
  }
}

Prompt ChatTemplate::tokenize(Rendered rendered,
                              const std::function<bool()>& should_stop) const {
  TokenizeOptions options;
  options.add_special = false;
  options.parse_special = true;
  options.content = rendered.content;
  options.marks = marks_;
  options.should_stop = should_stop;
  Prompt prompt;
  std::vector<Span> places;
  prompt.tokens = tokenizer_->tokenize(rendered.text, options, &places);
  prompt.content.reserve(rendered.content.size());
  for (const Span& span : rendered.content) {
    prompt.content.push_back({span, tokens_of(span, places)});
  }
  prompt.text = std::move(rendered.text);
  return prompt;
}

Prompt ChatTemplate::render(const JsonValue& messages, const JsonValue* tools,
                            const PromptOptions& options) const {
  Rendered rendered = render_text(variables(messages, tools, options), options);
  if (options.continue_last) {
    cut(end_of_message(rendered, text_to_continue(messages)), &rendered);
  }
  return tokenize(std::move(rendered), options.should_stop);
}

}  // namespace rc::text::chat
