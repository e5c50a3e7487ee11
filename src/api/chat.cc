// chat.h.
#include "runcible/chat.h"

#include <memory>
#include <optional>
#include <string>

#include "api/generate_options.h"
#include "api/guard.h"
#include "api/model.h"
#include "api/options.h"
#include "api/returned_memory.h"
#include "api/session.h"
#include "api/start_request.h"
#include "base/deep_stack.h"
#include "engine/conversation.h"
#include "text/chat/conversation.h"
#include "text/chat/local_time.h"

struct rc_chat_prompt {
  static constexpr rc::api::Kind kKind = rc::api::Kind::kChatPrompt;
  rc::text::chat::Prompt prompt;
  std::string template_name;
  std::string call_format;
};

struct rc_chat {
  static constexpr rc::api::Kind kKind = rc::api::Kind::kChat;
  rc_chat(std::shared_ptr<rc::api::HandleAccount> account,
          std::shared_ptr<const rc::model::ModelFile> file,
          std::shared_ptr<rc::api::SessionPlace> place,
          std::shared_ptr<rc::engine::Conversation> conversation)
      : account(std::move(account)),
        file(std::move(file)),
        place(std::move(place)),
        conversation(std::move(conversation)) {}

  // Those of its session.
  const std::shared_ptr<rc::api::HandleAccount> account;
  const std::shared_ptr<const rc::model::ModelFile> file;
  const std::shared_ptr<rc::api::SessionPlace> place;
  const std::shared_ptr<rc::engine::Conversation> conversation;
};

namespace rc::api {
namespace {

// The JSON of an option that may be NULL.
std::optional<JsonValue> optional_json(const char* json, const char* name) {
  if (json == nullptr) return std::nullopt;
  return text::chat::parse_argument(json, name);
}

std::string_view optional_text(const char* text) {
  return text == nullptr ? std::string_view() : std::string_view(text);
}

// The arguments of rc_chat_render and rc_chat_create, checked.
struct ChatRequest {
  explicit ChatRequest(const rc_chat_options& options)
      : tools(optional_json(options.tools, "options->tools")),
        arguments(optional_json(options.template_arguments,
                                "options->template_arguments")),
        source(optional_text(options.template_text)),
        name(optional_text(options.template_name)) {
    need_range(options.thinking, -1, 1, "options->thinking");
    need_range<int32_t>(options.ending, RC_ENDING_ANSWER, RC_ENDING_OPEN,
                        "options->ending");
    if (options.template_text != nullptr && source.empty()) {
      fail(RC_E_INVALID_ARGUMENT, "options->template_text: an empty template");
    }
    if (options.thinking >= 0) prompt.thinking = options.thinking == 1;
    prompt.add_generation_prompt = options.ending == RC_ENDING_ANSWER;
    prompt.continue_last = options.ending == RC_ENDING_OPEN;
    if (arguments) prompt.arguments = &*arguments;
    prompt.now = options.now == nullptr ? text::chat::local_time_now()
                                        : text::chat::parse_local_time(
                                              options.now, "options->now");
  }
  ChatRequest(const ChatRequest&) = delete;
  ChatRequest& operator=(const ChatRequest&) = delete;

  bool has_tools() const { return tools && !tools->items.empty(); }

  const std::optional<JsonValue> tools;
  const std::optional<JsonValue> arguments;
  const std::string_view source;
  const std::string_view name;
  text::chat::PromptOptions prompt;
};

std::unique_ptr<rc_chat_prompt> render(const rc_tokenizer& tokenizer,
                                       const JsonValue& messages,
                                       const ChatRequest& request) {
  auto made = std::make_unique<rc_chat_prompt>();
  const auto choice = tokenizer.templates.choose(request.source, request.name,
                                                 request.has_tools());
  made->prompt = choice.chat->render(
      messages, request.tools ? &*request.tools : nullptr, request.prompt);
  made->template_name = choice.name;
  made->call_format =
      choice.chat->call_format(request.tools ? &*request.tools : nullptr);
  return made;
}

std::shared_ptr<engine::Conversation> begin_conversation(
    const rc_session& session, const rc_chat_options& given) {
  ChatRequest request(given);
  if (given.ending != RC_ENDING_ANSWER) {
    fail(RC_E_INVALID_ARGUMENT, "options->ending is ", given.ending,
         "; the prompts of a conversation end with RC_ENDING_ANSWER (0)");
  }
  const model::ModelFile& file = *session.file;
  if (file.tokenizer() == nullptr) {
    fail(RC_E_UNSUPPORTED, file.file().name(),
         ": a conversation needs a tokenizer, and the file has none");
  }
  const text::chat::FileTemplates templates(file.file(), file.tokenizer());
  engine::ConversationOptions options;
  options.chat =
      templates.choose(request.source, request.name, request.has_tools()).chat;
  options.chat->check(request.tools ? &*request.tools : nullptr,
                      request.arguments ? &*request.arguments : nullptr);
  options.tools = request.tools;
  options.arguments = request.arguments;
  options.thinking = request.prompt.thinking;
  options.now = *request.prompt.now;
  return engine::Conversation::create(session.session, std::move(options));
}

void need_no_prompt(const rc_generate_options& options) {
  if (options.prompt_length != 0 || options.prompt_token_count != 0) {
    fail(RC_E_INVALID_ARGUMENT,
         "options->prompt: a conversation's prompts are its messages; add one");
  }
  if (options.echo != 0) {
    fail(RC_E_INVALID_ARGUMENT, "options->echo: ", options.echo,
         ", but an answer has no prompt to show");
  }
}

}  // namespace
}  // namespace rc::api

using rc::api::guard;
using rc::api::guard_handle;
using rc::api::need;

void rc_chat_options_init(rc_chat_options* options, size_t size) {
  rc::api::initialise(options, size, rc_chat_options RC_CHAT_OPTIONS_INIT);
}

rc_status rc_chat_render(const rc_tokenizer* tokenizer, const char* messages,
                         size_t length, const rc_chat_options* options,
                         rc_chat_prompt** prompt) {
  return guard_handle(prompt, "prompt", [&] {
    const rc_tokenizer& handle = need(tokenizer, "tokenizer");
    rc::api::need_array(messages, length, 1, "messages");
    const rc_chat_options read = rc::api::read_options(
        options, rc_chat_options RC_CHAT_OPTIONS_INIT, "options");
    const rc::JsonValue list =
        rc::text::chat::parse_argument({messages, length}, "messages");
    const rc::api::ChatRequest request(read);
    // The stack of the caller may be small.
    return rc::api::add_handle(rc::on_deep_stack(
        [&] { return rc::api::render(handle, list, request); }));
  });
}

rc_chat_prompt* rc_chat_prompt_retain(rc_chat_prompt* prompt) {
  return rc::api::retain_handle(prompt, "prompt");
}

void rc_chat_prompt_release(rc_chat_prompt* prompt) {
  rc::api::release_handle(prompt, "prompt");
}

void rc_chat_prompt_report_init(rc_chat_prompt_report* report, size_t size) {
  rc::api::initialise(report, size,
                      rc_chat_prompt_report RC_CHAT_PROMPT_REPORT_INIT);
}

rc_status rc_chat_prompt_describe(const rc_chat_prompt* prompt,
                                  rc_chat_prompt_report* report) {
  return guard([&] {
    const rc_chat_prompt& made = need(prompt, "prompt");
    rc_chat_prompt_report result = RC_CHAT_PROMPT_REPORT_INIT;
    result.text = made.prompt.text.c_str();
    result.length = made.prompt.text.size();
    result.tokens = made.prompt.tokens.data();
    result.token_count = made.prompt.tokens.size();
    result.content_count = made.prompt.content.size();
    result.template_name = made.template_name.c_str();
    result.call_format = made.call_format.c_str();
    rc::api::write_report(report, result, "report");
  });
}

void rc_chat_content_report_init(rc_chat_content_report* report, size_t size) {
  rc::api::initialise(report, size,
                      rc_chat_content_report RC_CHAT_CONTENT_REPORT_INIT);
}

rc_status rc_chat_prompt_content(const rc_chat_prompt* prompt, size_t i,
                                 rc_chat_content_report* report) {
  return guard([&] {
    const auto& content = need(prompt, "prompt").prompt.content;
    if (i >= content.size()) {
      rc::fail(RC_E_INVALID_ARGUMENT, "i: ", i, ", but the prompt has ",
               content.size(), " parts of content");
    }
    rc_chat_content_report result = RC_CHAT_CONTENT_REPORT_INIT;
    result.begin = content[i].bytes.begin;
    result.end = content[i].bytes.end;
    result.token_begin = content[i].tokens.begin;
    result.token_end = content[i].tokens.end;
    rc::api::write_report(report, result, "report");
  });
}

rc_status rc_chat_create(rc_session* session, const rc_chat_options* options,
                         rc_chat** chat) {
  return guard_handle(chat, "chat", [&] {
    const rc_session& handle = need(session, "session");
    const rc_chat_options read = rc::api::read_options(
        options, rc_chat_options RC_CHAT_OPTIONS_INIT, "options");
    return rc::api::add_handle(std::make_unique<rc_chat>(
        handle.account, handle.file, handle.place, rc::on_deep_stack([&] {
          return rc::api::begin_conversation(handle, read);
        })));
  });
}

rc_chat* rc_chat_retain(rc_chat* chat) {
  return rc::api::retain_handle(chat, "chat");
}

void rc_chat_release(rc_chat* chat) { rc::api::release_handle(chat, "chat"); }

rc_status rc_chat_add(rc_chat* chat, const char* messages, size_t length) {
  return guard([&] {
    const auto held = need(chat, "chat").conversation;
    rc::api::need_array(messages, length, 1, "messages");
    held->add(rc::text::chat::parse_argument({messages, length}, "messages"));
  });
}

rc_status rc_chat_undo(rc_chat* chat, size_t count) {
  return guard([&] {
    const auto held = need(chat, "chat").conversation;
    held->undo(count);
  });
}

rc_status rc_chat_messages(rc_chat* chat, char** messages, size_t* length) {
  return guard([&] {
    rc::api::need_pointer(messages, "messages");
    *messages = nullptr;
    const auto held = need(chat, "chat").conversation;
    const std::string json = rc::json_text(held->messages());
    *messages = rc::api::return_text(json).release();
    if (length != nullptr) *length = json.size();
  });
}

rc_status rc_chat_fork(rc_chat* chat, rc_chat** fork) {
  return guard_handle(fork, "fork", [&] {
    const rc_chat& handle = need(chat, "chat");
    std::shared_ptr<rc::engine::Conversation> made;
    auto place =
        handle.place->place_of([&] { made = handle.conversation->fork(); });
    return rc::api::add_handle(std::make_unique<rc_chat>(
        handle.account, handle.file, std::move(place), std::move(made)));
  });
}

rc_status rc_chat_answer_async(rc_chat* chat,
                               const rc_generate_options* options,
                               rc_loop* loop, rc_event_callback callback,
                               void* user, rc_request** request) {
  return guard([&] {
    const rc::api::EventTarget target = {loop, callback, user};
    rc::api::check_event_target(target, request);
    const rc_chat& handle = need(chat, "chat");
    const auto account = handle.account;
    const auto file = handle.file;
    const auto held = handle.conversation;
    const rc_generate_options read = rc::api::read_options(
        options, rc_generate_options RC_GENERATE_OPTIONS_INIT, "options");
    rc::api::need_no_prompt(read);
    rc::engine::AnswerRules rules = rc::api::answer_rules(read);
    rc::engine::RequestOptions checked =
        rc::api::request_options(options, *file, /*answer=*/true);
    rc::api::start_request(
        account,
        [&](std::shared_ptr<rc::engine::Listener> listener) {
          return held->answer(std::move(checked), std::move(listener),
                              std::move(rules));
        },
        target, request);
  });
}
