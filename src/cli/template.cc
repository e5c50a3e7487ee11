#include <nlohmann/json.hpp>

#include "chat_choice.h"
#include "commands.h"
#include "one_of.h"
#include "terminal.h"

namespace cli {
namespace {

using Json = nlohmann::ordered_json;

struct TemplateArguments {
  std::string path;
  std::string messages;
  ChatChoice chat;
  std::string ending = "answer";
  bool continue_last = false;
  bool no_answer = false;
  bool json = false;
};

struct Part {
  size_t begin, end, token_begin, token_end;
};

std::vector<Part> parts_of(const ChatPrompt& prompt, size_t count) {
  std::vector<Part> parts;
  for (size_t i = 0; i < count; ++i) {
    rc_chat_content_report part = RC_CHAT_CONTENT_REPORT_INIT;
    check(rc_chat_prompt_content(prompt.get(), i, &part));
    parts.push_back({part.begin, part.end, part.token_begin, part.token_end});
  }
  return parts;
}

std::string piece_of(const Tokenizer& tokenizer, int32_t token) {
  char* text = nullptr;
  size_t length = 0;
  check(rc_detokenize(tokenizer.get(), &token, 1, 1, &text, &length));
  const Returned<char> owned(text);
  return {text, length};
}

// Which tokens stand for content.
std::vector<bool> marks_of(const std::vector<Part>& parts, size_t tokens) {
  std::vector<bool> marks(tokens);
  for (const Part& part : parts) {
    for (size_t i = part.token_begin; i < part.token_end; ++i) marks[i] = true;
  }
  return marks;
}

void show_json(const Tokenizer& tokenizer, const rc_chat_prompt_report& report,
               const std::vector<Part>& parts) {
  const std::vector<bool> marks = marks_of(parts, report.token_count);
  Json tokens = Json::array();
  for (size_t i = 0; i < report.token_count; ++i) {
    tokens.push_back({{"id", report.tokens[i]},
                      {"piece", piece_of(tokenizer, report.tokens[i])},
                      {"content", static_cast<bool>(marks[i])}});
  }
  Json content = Json::array();
  for (const Part& part : parts) {
    content.push_back({{"begin", part.begin},
                       {"end", part.end},
                       {"token_begin", part.token_begin},
                       {"token_end", part.token_end}});
  }
  print(json_text(Json{{"template", report.template_name},
                       {"call_format", report.call_format},
                       {"text", std::string(report.text, report.length)},
                       {"tokens", tokens},
                       {"content", content}}));
}

void show(const Tokenizer& tokenizer, const rc_chat_prompt_report& report,
          const std::vector<Part>& parts) {
  const std::string_view text(report.text, report.length);
  size_t at = 0;
  for (const Part& part : parts) {
    print(text.substr(at, part.begin - at));
    print(Style::kStrong, text.substr(part.begin, part.end - part.begin));
    at = part.end;
  }
  print(text.substr(at));
  const std::vector<bool> marks = marks_of(parts, report.token_count);
  std::string lines = "\n\n";
  for (size_t i = 0; i < report.token_count; ++i) {
    const Json piece = piece_of(tokenizer, report.tokens[i]);
    lines += std::to_string(report.tokens[i]) + "\t" +
             piece.dump(-1, ' ', false, Json::error_handler_t::replace) +
             (marks[i] ? "\tcontent\n" : "\n");
  }
  print(lines);
}

void run_template(TemplateArguments& arguments) {
  const std::string messages = read_file(arguments.messages);
  arguments.chat.read();
  rc_chat_options options = arguments.chat.options();
  if (arguments.no_answer || arguments.ending == "message") {
    options.ending = RC_ENDING_MESSAGE;
  }
  if (arguments.continue_last || arguments.ending == "open") {
    options.ending = RC_ENDING_OPEN;
  }
  const Tokenizer tokenizer =
      make<Tokenizer>(rc_tokenizer_open, arguments.path.c_str());
  const ChatPrompt prompt =
      make<ChatPrompt>(rc_chat_render, tokenizer.get(), messages.data(),
                       messages.size(), &options);
  rc_chat_prompt_report report = RC_CHAT_PROMPT_REPORT_INIT;
  check(rc_chat_prompt_describe(prompt.get(), &report));
  const std::vector<Part> parts = parts_of(prompt, report.content_count);
  if (arguments.json) {
    show_json(tokenizer, report, parts);
  } else {
    show(tokenizer, report, parts);
  }
}

}  // namespace

void add_template(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "template", "Shows a conversation as the prompt that a model gets");
  auto arguments = std::make_shared<TemplateArguments>();
  add_model(*command, arguments->path);
  takes_file(
      command->add_option("--messages", arguments->messages,
                          "a file with the messages: JSON in the shape of "
                          "OpenAI's chat completions; - reads stdin"))
      ->required();
  arguments->chat.add_tools(*command);
  arguments->chat.add_template(*command);
  CLI::Option* ending = one_of(
      command->add_option("--ending", arguments->ending,
                          "how the prompt ends: with the beginning of an "
                          "answer, with the last message, or within it, for "
                          "the model to go on with it"),
      {"answer", "message", "open"});
  ending->capture_default_str();
  CLI::Option* open = command->add_flag("--continue", arguments->continue_last,
                                        "the same as --ending open");
  CLI::Option* message = command->add_flag("--no-answer", arguments->no_answer,
                                           "the same as --ending message");
  ending->excludes(open)->excludes(message);
  command->add_flag("--json", arguments->json, "print JSON");
  command->callback([arguments] { run_template(*arguments); });
}

}  // namespace cli
