// chat.h.
#include <memory>
#include <optional>
#include <string>

#include "api/guard.h"
#include "api/model.h"
#include "api/options.h"
#include "base/deep_stack.h"
#include "runcible/chat.h"
#include "text/chat/conversation.h"
#include "text/chat/local_time.h"

struct rc_chat_prompt {
  static constexpr rc::api::Kind kKind = rc::api::Kind::kChatPrompt;
  rc::text::chat::Prompt prompt;
  std::string template_name;
};

namespace rc::api {
namespace {

// The JSON of an option that may be NULL.
std::optional<text::JsonValue> optional_json(const char* json,
                                             const char* name) {
  if (json == nullptr) return std::nullopt;
  return text::chat::parse_argument(json, name);
}

std::string_view optional_text(const char* text) {
  return text == nullptr ? std::string_view() : std::string_view(text);
}

// What rc_chat_render was asked for, checked.
struct ChatRequest {
  ChatRequest(std::string_view json, const rc_chat_options& options)
      : messages(text::chat::parse_argument(json, "messages")),
        tools(optional_json(options.tools, "options->tools")),
        arguments(optional_json(options.template_arguments,
                                "options->template_arguments")),
        source(optional_text(options.template_text)),
        name(optional_text(options.template_name)) {
    need_range(options.thinking, -1, 1, "options->thinking");
    need_flag(options.add_generation_prompt, "options->add_generation_prompt");
    need_flag(options.continue_last, "options->continue_last");
    if (options.template_text != nullptr && source.empty()) {
      fail(RC_E_INVALID_ARGUMENT, "options->template_text: an empty template");
    }
    if (options.thinking >= 0) prompt.thinking = options.thinking == 1;
    prompt.add_generation_prompt = options.add_generation_prompt == 1;
    prompt.continue_last = options.continue_last == 1;
    if (arguments) prompt.arguments = &*arguments;
    prompt.now = options.now == nullptr ? text::chat::local_time_now()
                                        : text::chat::parse_local_time(
                                              options.now, "options->now");
  }
  ChatRequest(const ChatRequest&) = delete;
  ChatRequest& operator=(const ChatRequest&) = delete;

  bool has_tools() const { return tools && !tools->items.empty(); }

  const text::JsonValue messages;
  const std::optional<text::JsonValue> tools;
  const std::optional<text::JsonValue> arguments;
  const std::string_view source;
  const std::string_view name;
  text::chat::PromptOptions prompt;
};

std::unique_ptr<rc_chat_prompt> render(const rc_tokenizer& tokenizer,
                                       const ChatRequest& request) {
  auto made = std::make_unique<rc_chat_prompt>();
  const auto choice = tokenizer.templates.choose(request.source, request.name,
                                                 request.has_tools());
  made->prompt = choice.chat->render(request.messages,
                                     request.tools ? &*request.tools : nullptr,
                                     request.prompt);
  made->template_name = choice.name;
  return made;
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
    const rc::api::ChatRequest request({messages, length}, read);
    // The stack of the caller may be small.
    return rc::api::add_handle(
        rc::on_deep_stack([&] { return rc::api::render(handle, request); }));
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
