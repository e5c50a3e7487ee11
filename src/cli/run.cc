#include <algorithm>
#include <cctype>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "chat_choice.h"
#include "commands.h"
#include "grammar_choice.h"
#include "output_file.h"
#include "raw_logits.h"
#include "sampling_options.h"
#include "terminal.h"
#include "trace.h"
#include "usage.h"

namespace cli {
namespace {

using Json = nlohmann::ordered_json;

struct RunArguments {
  ModelChoice model;
  std::string prompt;
  const CLI::Option* prompt_option = nullptr;
  std::string prompt_tokens;
  bool parse_special = false;
  bool chat = false;  // the prompt is a message of a user
  ChatChoice chat_choice;
  std::string system;
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  std::vector<std::string> stop;
  GrammarChoice grammar;
  bool json = false;
  bool force = false;
  std::string raw_logits;
  std::string trace;  // file; "": none
};

struct Result {
  std::string text;
  std::string reasoning;  // of a conversation: text before the answer
  std::vector<int32_t> tokens;
  rc_generate_report report = RC_GENERATE_REPORT_INIT;
  std::string message;
};

// The text of the prompt as tokens. Empty for an empty text of a model without
// BOS: then the library says what is wrong.
std::vector<int32_t> prompt_tokens(const Model& model,
                                   const RunArguments& arguments) {
  const Tokenizer tokenizer =
      make<Tokenizer>(rc_model_get_tokenizer, model.get());
  uint32_t flags = RC_TOKENIZE_ADD_SPECIAL;
  if (arguments.parse_special) flags |= RC_TOKENIZE_PARSE_SPECIAL;
  std::vector<int32_t> tokens = tokenize(tokenizer, arguments.prompt, flags);
  if (tokens.empty()) {
    rc_tokenizer_report report = RC_TOKENIZER_REPORT_INIT;
    check(rc_tokenizer_describe(tokenizer.get(), &report));
    if (report.bos >= 0) tokens.push_back(report.bos);
  }
  return tokens;
}

// A conversation of one message, or none.
class Question {
 public:
  Question(const Model& model, const Session& session,
           const RunArguments& arguments)
      : options_(arguments.chat_choice.options()) {
    Json messages = Json::array();
    if (!arguments.system.empty()) {
      messages.push_back({{"role", "system"}, {"content", arguments.system}});
    }
    messages.push_back({{"role", "user"}, {"content", arguments.prompt}});
    const std::string text =
        messages.dump(-1, ' ', false, Json::error_handler_t::replace);
    chat_ = make<Chat>(rc_chat_create, session.get(), &options_);
    check(rc_chat_add(chat_.get(), text.data(), text.size()));
    const Tokenizer tokenizer =
        make<Tokenizer>(rc_model_get_tokenizer, model.get());
    const ChatPrompt prompt = make<ChatPrompt>(
        rc_chat_render, tokenizer.get(), text.data(), text.size(), &options_);
    rc_chat_prompt_report report = RC_CHAT_PROMPT_REPORT_INIT;
    check(rc_chat_prompt_describe(prompt.get(), &report));
    tokens_.assign(report.tokens, report.tokens + report.token_count);
  }

  const std::vector<int32_t>& tokens() const { return tokens_; }

  Request ask(const rc_generate_options& options) const {
    return make<Request>(
        [](rc_chat* chat, const rc_generate_options* o, rc_request** made) {
          return rc_chat_answer_async(chat, o, nullptr, nullptr, nullptr, made);
        },
        chat_.get(), &options);
  }

 private:
  const rc_chat_options options_;
  Chat chat_;
  std::vector<int32_t> tokens_;  // of the prompt
};

Request begin(const Session& session, const rc_generate_options& options) {
  return make<Request>(
      [](rc_session* s, const rc_generate_options* o, rc_request** r) {
        return rc_generate_async(s, o, nullptr, nullptr, nullptr, r);
      },
      session.get(), &options);
}

// Waits for the end, printing as the text comes unless `quiet`. Ctrl-C ends it
// with what there is by then.
Result finish(const Request& request, bool quiet) {
  // The longest delay until Ctrl-C is noticed while no text comes.
  constexpr int64_t kLookMs = 50;
  const InterruptWatch watch;
  Result result;
  bool cancelled = false;
  while (true) {
    if (interrupted() && !cancelled) {
      check(rc_request_cancel(request.get()));
      cancelled = true;
    }
    rc_event event = RC_EVENT_INIT;
    const rc_status status = rc_request_next(request.get(), kLookMs, &event);
    if (status == RC_E_TIMEOUT) continue;
    check(status);
    if (event.type == RC_EVENT_END) {
      result.report = *event.report;
      result.message = in_own_words(event.message);
      return result;
    }
    const std::string_view text(event.text, event.text_length);
    result.tokens.insert(result.tokens.end(), event.tokens,
                         event.tokens + event.token_count);
    if (event.type == RC_EVENT_REASONING) {
      result.reasoning += text;
      if (!quiet) print(Style::kDim, text);
      continue;
    }
    if (!quiet && !text.empty() && result.text.empty() &&
        !result.reasoning.empty()) {
      print("\n");
    }
    result.text += text;
    if (!quiet) print(text);
  }
}

// A model that was trained to converse goes on with a text badly: it may end at
// once.
void note_template(const Session& session, const RunArguments& arguments) {
  if (arguments.prompt.empty() || arguments.parse_special ||
      !arguments.prompt_tokens.empty()) {
    return;
  }
  const rc_chat_options options = RC_CHAT_OPTIONS_INIT;
  rc_chat* chat = nullptr;
  if (rc_chat_create(session.get(), &options, &chat) != RC_OK) return;
  rc_chat_release(chat);
  note(
      "the model has a chat template, which is not used for this prompt; run "
      "--chat gives the prompt as a message of a user");
}

// "ok", "context_full".
std::string status_text(rc_status status) {
  std::string text = rc_status_name(status);
  for (const char* prefix : {"RC_", "E_"}) {
    if (text.rfind(prefix, 0) == 0) text.erase(0, std::strlen(prefix));
  }
  for (char& c : text) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return text;
}

Json to_json(const Result& result, const std::vector<int32_t>& prompt) {
  const rc_generate_report& report = result.report;
  return {{"text", result.text},
          {"reasoning", result.reasoning},
          {"tokens", result.tokens},
          {"prompt", prompt},
          {"reason", rc_end_reason_name(report.reason)},
          {"status", status_text(report.status)},
          {"message", result.message},
          {"seed", report.seed},
          {"prompt_tokens", report.prompt_tokens},
          {"cached_tokens", report.cached_tokens},
          {"generated_tokens", report.generated_tokens},
          {"forced_tokens", report.forced_tokens},
          {"queue_us", report.queue_us},
          {"prompt_us", report.prompt_us},
          {"generate_us", report.generate_us}};
}

// Throws a Failure if a text that a grammar is for was cut.
void check_whole(const Grammar& grammar, const Result& result) {
  const rc_generate_report& report = result.report;
  const std::string count =
      std::to_string(report.generated_tokens) +
      (report.generated_tokens == 1 ? " token" : " tokens");
  std::string cut;
  switch (report.reason) {
    case RC_END_LENGTH:
      cut = "by --max-tokens after " + count +
            "; a larger --max-tokens lets it end";
      break;
    case RC_END_CONTEXT:
      cut = "after " + count +
            ", as the context is full; a larger --context lets it end";
      break;
    case RC_END_DEADLINE:
      cut = "by the deadline after " + count +
            "; a later generate.deadline_ms of the configuration lets "
            "it end";
      break;
    default:
      return;
  }
  // With --echo the tokens of the prompt come first.
  const auto generated = std::min<size_t>(
      result.tokens.size(), static_cast<size_t>(report.generated_tokens));
  if (is_whole(grammar,
               {result.tokens.end() - static_cast<ptrdiff_t>(generated),
                result.tokens.end()})) {
    return;
  }
  throw Failure{kCut, "the text was cut " + cut};
}

// The files that the command writes, checked before the time that loading
// takes.
void check_outputs(const RunArguments& arguments) {
  std::vector<std::string> inputs = arguments.grammar.files();
  inputs.push_back(arguments.model.path);
  for (const std::string& output : {arguments.raw_logits, arguments.trace}) {
    check_output(output, arguments.force, Writing::kThrough, inputs);
  }
}

void run(RunArguments& arguments) {
  std::vector<int32_t> prompt;
  if (!arguments.prompt_tokens.empty()) {
    prompt = parse_tokens(arguments.prompt_tokens);
  } else if (arguments.prompt_option->count() == 0 ? text_on_stdin()
                                                   : arguments.prompt == "-") {
    arguments.prompt = read_stdin();
  }
  if (arguments.chat && arguments.prompt.empty()) {
    throw Failure{kUsage,
                  "--chat needs a message; give it by --prompt, or on stdin"};
  }
  arguments.grammar.read();
  arguments.chat_choice.read();
  check_outputs(arguments);
  std::optional<RawLogits> raw_logits;
  if (!arguments.raw_logits.empty()) raw_logits.emplace(arguments.raw_logits);
  const Backend backend =
      arguments.model.open_backend(!arguments.trace.empty());
  const std::unique_ptr<Trace> trace = Trace::of(backend, arguments.trace);
  rc_model_options loading = arguments.model.options();
  loading.output = RC_OUTPUT_LOGITS;
  const Model model = arguments.model.load(backend, loading);
  const Grammar grammar = arguments.grammar.compile(model);
  const Session session =
      make<Session>(rc_session_create, model.get(), nullptr);

  rc_generate_options options = arguments.options;
  options.grammar = grammar.get();
  std::vector<const char*> stop;
  for (const std::string& text : arguments.stop) stop.push_back(text.c_str());
  options.stop = stop.data();
  options.stop_count = stop.size();

  std::optional<Question> question;
  Request request;
  if (arguments.chat) {
    question.emplace(model, session, arguments);
    prompt = question->tokens();
    request = question->ask(options);
  } else {
    note_template(session, arguments);
    if (arguments.prompt_tokens.empty()) {
      prompt = prompt_tokens(model, arguments);
    }
    options.prompt_tokens = prompt.data();
    options.prompt_token_count = prompt.size();
    request = begin(session, options);
  }
  const Result result = finish(request, arguments.json);
  const rc_generate_report& report = result.report;
  const bool overdue = grammar != nullptr && report.reason == RC_END_DEADLINE;
  const bool failed =
      report.status != RC_OK && report.status != RC_E_CANCELLED && !overdue;
  if (arguments.json) {
    print(json_text(to_json(result, prompt)));
  } else if (!failed || !result.text.empty()) {
    print("\n");
  }
  if (trace != nullptr) trace->write(backend);
  if (failed) throw Failure{exit_code(report.status), result.message};
  note_usage(report);
  if (report.status == RC_E_CANCELLED) throw Failure{kInterrupted, ""};
  if (raw_logits.has_value()) {
    // The last token was chosen but not evaluated.
    std::vector<int32_t> answer = result.tokens;
    if (!answer.empty()) answer.pop_back();
    raw_logits->write(model, prompt, answer);
  }
  if (grammar != nullptr) check_whole(grammar, result);
}

// Those that make a prompt a message.
void add_chat_options(CLI::App& command, RunArguments& arguments,
                      const std::vector<CLI::Option*>& of_texts) {
  begin_group(command, "Conversation");
  CLI::Option* chat = command.add_flag(
      "--chat", arguments.chat,
      "write the prompt down as a message of a user, by the model's chat "
      "template, and print the answer");
  for (CLI::Option* option : of_texts) option->excludes(chat);
  command
      .add_option("--system", arguments.system,
                  "with --chat: instructions for the model, before the prompt")
      ->needs(chat);
  for (CLI::Option* option : arguments.chat_choice.add_template(command)) {
    option->needs(chat);
  }
}

void add_options(CLI::App& command, RunArguments& arguments) {
  rc_generate_options& options = arguments.options;
  begin_group(command, "Text");
  CLI::Option* prompt = command.add_option(
      "-p,--prompt", arguments.prompt,
      "the text to go on from; - reads stdin; default: the text of a pipe or a "
      "file on stdin, else none, for a text from its beginning");
  arguments.prompt_option = prompt;
  CLI::Option* tokens =
      command
          .add_option("--prompt-tokens", arguments.prompt_tokens,
                      "the prompt as tokens, as in 1,2,3")
          ->excludes(prompt);
  CLI::Option* special = command.add_flag(
      "--parse-special", arguments.parse_special,
      "take the names of special tokens in the prompt for them");
  add_max_tokens(command, options);
  takes_several(command.add_option(
                    "--stop", arguments.stop,
                    "ends the text where it would come; may be given several "
                    "times"))
      ->check([](const std::string& stop) {
        return stop.empty() ? "an empty text would end every text at once"
                            : std::string();
      });
  arguments.grammar.add_to(command);
  arguments.grammar.exclude(
      command.add_flag("--ignore-eos", options.ignore_eos,
                       "go on after the model's end tokens"));
  CLI::Option* echo =
      command.add_flag("--echo", options.echo, "print the prompt too");
  CLI::Option* logits = takes_file(
      command.add_option("--raw-logits", arguments.raw_logits,
                         "write the logits of each evaluated position to this "
                         "file, as rows of little-endian f32"));
  add_chat_options(command, arguments, {tokens, special, echo, logits});
  add_sampling_options(command, options);
  arguments.model.add_to(command);
  command.add_flag("--json", arguments.json,
                   "print one JSON object at the end instead of the text");
  takes_file(command.add_option("--trace", arguments.trace,
                                "measure each op, and write the times to this "
                                "file for Perfetto or Chrome"));
  add_force(command, arguments.force);
}

}  // namespace

void add_run(CLI::App& program) {
  CLI::App* command =
      program.add_subcommand("run", "Generates text; without a MODEL, a fable");
  auto arguments = std::make_shared<RunArguments>();
  add_options(*command, *arguments);
  command->callback([arguments] { run(*arguments); });
}

}  // namespace cli
