#include <nlohmann/json.hpp>
#include <optional>

#include "commands.h"
#include "grammar_choice.h"
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
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  std::vector<std::string> stop;
  GrammarChoice grammar;
  bool json = false;
  std::string raw_logits;
  std::string trace;  // file; "": none
};

struct Result {
  std::string text;
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

// Generates, printing as the text comes unless `quiet`. Ctrl-C ends it with
// what there is by then.
Result generate(const Session& session, const rc_generate_options& options,
                bool quiet) {
  // How soon Ctrl-C is noticed while no text comes.
  constexpr int64_t kLookMs = 50;
  const InterruptWatch watch;
  const Request request = make<Request>(
      [](rc_session* s, const rc_generate_options* o, rc_request** r) {
        return rc_generate_async(s, o, nullptr, nullptr, nullptr, r);
      },
      session.get(), &options);
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
      result.message = event.message;
      return result;
    }
    result.text.append(event.text, event.text_length);
    result.tokens.insert(result.tokens.end(), event.tokens,
                         event.tokens + event.token_count);
    if (!quiet) print({event.text, event.text_length});
  }
}

Json to_json(const Result& result, const std::vector<int32_t>& prompt) {
  const rc_generate_report& report = result.report;
  return {{"text", result.text},
          {"tokens", result.tokens},
          {"prompt", prompt},
          {"reason", rc_end_reason_name(report.reason)},
          {"status", rc_status_name(report.status)},
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

void run(RunArguments& arguments) {
  // What can be said of the arguments comes before the time that loading takes.
  std::vector<int32_t> prompt;
  if (!arguments.prompt_tokens.empty()) {
    prompt = parse_tokens(arguments.prompt_tokens);
  } else if (arguments.prompt_option->count() == 0 ? text_on_stdin()
                                                   : arguments.prompt == "-") {
    arguments.prompt = read_stdin();
  }
  arguments.grammar.read();
  std::optional<RawLogits> raw_logits;
  if (!arguments.raw_logits.empty()) raw_logits.emplace(arguments.raw_logits);
  const Backend backend =
      arguments.model.open_backend(!arguments.trace.empty());
  const std::unique_ptr<Trace> trace = Trace::of(backend, arguments.trace);
  const Model model = arguments.model.load(backend, arguments.model.options());
  if (arguments.prompt_tokens.empty()) prompt = prompt_tokens(model, arguments);
  const Grammar grammar = arguments.grammar.compile(model);
  const Session session =
      make<Session>(rc_session_create, model.get(), nullptr);

  rc_generate_options options = arguments.options;
  options.grammar = grammar.get();
  options.prompt_tokens = prompt.data();
  options.prompt_token_count = prompt.size();
  std::vector<const char*> stop;
  for (const std::string& text : arguments.stop) stop.push_back(text.c_str());
  options.stop = stop.data();
  options.stop_count = stop.size();

  const Result result = generate(session, options, arguments.json);
  const rc_generate_report& report = result.report;
  const bool failed = report.status != RC_OK && report.status != RC_E_CANCELLED;
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
    std::vector<int32_t> evaluated = prompt;
    evaluated.insert(evaluated.end(), result.tokens.begin(),
                     result.tokens.end());
    if (!result.tokens.empty()) evaluated.pop_back();
    raw_logits->write(model, evaluated);
  }
}

void add_options(CLI::App& command, RunArguments& arguments) {
  rc_generate_options& options = arguments.options;
  arguments.model.add_to(command);
  CLI::Option* prompt = command.add_option(
      "-p,--prompt", arguments.prompt,
      "the text to go on from; - reads stdin; default: what a pipe or a file "
      "on stdin holds, else nothing, for a text from its beginning");
  arguments.prompt_option = prompt;
  command
      .add_option("--prompt-tokens", arguments.prompt_tokens,
                  "the same as tokens, as in 1,2,3")
      ->excludes(prompt);
  command.add_flag("--parse-special", arguments.parse_special,
                   "take the names of special tokens in the prompt for them");
  add_sampling_options(command, options);
  command
      .add_option("--stop", arguments.stop,
                  "ends the text where it would come; may be repeated")
      ->allow_extra_args(false)
      ->check([](const std::string& stop) {
        return stop.empty() ? "an empty text would end every text at once"
                            : std::string();
      });
  arguments.grammar.add_to(command);
  arguments.grammar.exclude(
      command.add_flag("--ignore-eos", options.ignore_eos,
                       "go on after the model's end tokens"));
  command.add_flag("--echo", options.echo, "print the prompt too");
  command.add_flag("--json", arguments.json,
                   "print one JSON object at the end instead of the text");
  takes_file(command.add_option("--trace", arguments.trace,
                                "measure each op, and write that to this file "
                                "for Perfetto or Chrome"));
  takes_file(
      command.add_option("--raw-logits", arguments.raw_logits,
                         "write the logits of each evaluated position to this "
                         "file, as rows of little-endian f32"));
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
