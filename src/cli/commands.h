// The subcommands. Each adds itself to the program, and runs when it is the one
// that was asked for; failures are thrown as cli::Failure.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "handles.h"

namespace cli {

void add_run(CLI::App& program);
void add_devices(CLI::App& program);
void add_inspect(CLI::App& program);
void add_verify(CLI::App& program);
void add_plan(CLI::App& program);
void add_convert(CLI::App& program);
void add_quantize(CLI::App& program);
void add_importance(CLI::App& program);
void add_evaluate(CLI::App& program);
void add_embed(CLI::App& program);
void add_rerank(CLI::App& program);
void add_tokenize(CLI::App& program);
void add_template(CLI::App& program);
void add_chat(CLI::App& program);
void add_bench(CLI::App& program);
void add_explain(CLI::App& program);
void add_calibrate(CLI::App& program);
void add_config(CLI::App& program);
void add_pull(CLI::App& program);
void add_models(CLI::App& program);
void add_completion(CLI::App& program);

// The meaning of MODEL, for --help.
inline constexpr char kModelHelp[] =
    "a model file (GGUF), a folder with config.json and safetensors, "
    "builtin:NAME for one that comes with Runcible, or hf:OWNER/NAME for one "
    "that was fetched (see runcible help pull)";

// Says that the option is the name of a file, for --help and for shells.
inline constexpr char kFileType[] = "FILE";
inline CLI::Option* takes_file(CLI::Option* option) {
  return option->type_name(kFileType);
}

// The default of an option whose variable stays as it is where the option is
// not given, so that the configured value holds; for --help.
inline CLI::Option* has_default(CLI::Option* option, const char* value) {
  return option->default_str(value);
}

// The options that are added from now on belong to this group of --help.
inline void begin_group(CLI::App& command, const char* title) {
  command.option_defaults()->group(title);
}
// The same for those that belong to none.
inline void end_group(CLI::App& command) { begin_group(command, "Options"); }

// An option that may be given several times, with a value each.
inline CLI::Option* takes_several(CLI::Option* option) {
  return option->expected(1)->multi_option_policy(
      CLI::MultiOptionPolicy::TakeAll);
}

// MODEL, or -m MODEL, which must be given.
CLI::Option* add_model(CLI::App& command, std::string& path);

// The options of every command that puts a model on a device.
struct ModelChoice {
  // MODEL may be left out unless `path` is empty: then it is `path`, the model
  // that comes with Runcible unless the command says otherwise before.
  void add_to(CLI::App& command);
  Backend open_backend(bool profile = false) const;
  rc_model_options options() const;
  // With a progress bar; heeds Ctrl-C. Says if no model was named, or the
  // context is longer than what it was trained for.
  Model load(const Backend& backend, rc_model_options options) const;

  // A line on stderr if the context is longer than what the model was trained
  // for.
  void note_context(int64_t trained) const;
  int64_t trained_context() const;

  // A line on stderr if no model was named.
  void note_default() const;

  Model load_with_progress(const Backend& opened,
                           rc_model_options options) const;

  void add_device_options(CLI::App& command);
  void add_memory_options(CLI::App& command);

  std::string path = "builtin:fable";
  const CLI::Option* named = nullptr;
  std::string backend;
  int32_t threads = 0;
  std::string numa;  // "": not given; so are the zeros here
  int64_t context = 0;
  std::string cache_dtype;
  int32_t rows = 0;
  std::string quantize;
  uint64_t memory_limit = RC_UNSET_UINT64;
  bool strict = false;
  bool keep_mapped = false;
  bool guard_mapped = false;
  bool experts_mapped = false;
  int32_t resident_experts = 0;
  std::string experts_on;
  int32_t experts_on_layers = 0;
  bool fit = false;
};

// "1,2,3"; throws a Failure for anything else.
std::vector<int32_t> parse_tokens(const std::string& text);

// Reads stdin to its end. Ctrl-C throws a Failure.
std::string read_stdin();

// Whether a text was given on stdin: it is a pipe or a file. A terminal,
// /dev/null, a socket, or none at all, as services have it, is no text.
bool text_on_stdin();

// The tokens of a text.
std::vector<int32_t> tokenize(const Tokenizer& tokenizer,
                              const std::string& text, uint32_t flags);

// Returns indented JSON for humans and programs, with a line feed at the end.
// Invalid UTF-8 becomes U+FFFD.
template <class Json>
std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// A text of an object that the library has written.
template <class Json>
std::string text_of(const Json& object, const char* key) {
  return object.at(key).template get<std::string>();
}

}  // namespace cli
