#include "commands.h"
#include "number.h"
#include "one_of.h"
#include "output_file.h"
#include "rows_file.h"
#include "terminal.h"

namespace cli {
namespace {

struct EmbedWish {
  ModelChoice model;
  std::string input;
  std::string output;
  std::string pooling = "auto";
  std::string prompt;
  std::string prompt_name;
  int64_t dimensions = 0;
  bool normalize = false;
  bool keep_length = false;
  bool truncate = false;
  bool force = false;
};

rc_pooling pooling_of(const std::string& name) {
  return name == "mean"                     ? RC_POOLING_MEAN
         : name == "first" || name == "cls" ? RC_POOLING_FIRST
         : name == "last"                   ? RC_POOLING_LAST
                                            : RC_POOLING_AUTO;
}

rc_embed_options options_of(const EmbedWish& wish) {
  rc_embed_options options = RC_EMBED_OPTIONS_INIT;
  options.pooling = pooling_of(wish.pooling);
  if (wish.normalize) options.normalize = 1;
  if (wish.keep_length) options.normalize = 0;
  options.dimensions = wish.dimensions;
  options.truncate = wish.truncate ? 1 : 0;
  if (!wish.prompt_name.empty()) {
    options.prompt_name = wish.prompt_name.c_str();
  } else if (wish.prompt == "query" || wish.prompt == "document") {
    options.prompt_name = wish.prompt.c_str();
  } else if (!wish.prompt.empty()) {
    options.prompt = wish.prompt.c_str();
  }
  return options;
}

void embed(const EmbedWish& wish) {
  check_output(wish.output, wish.force, Writing::kReplaces,
               {wish.input, wish.model.path});
  const std::vector<std::string> texts = read_texts(wish.input, {"text"});
  const Backend backend = wish.model.open_backend();
  rc_model_options loading = wish.model.options();
  loading.output = RC_OUTPUT_HIDDEN_ROWS;
  const Model model = wish.model.load(backend, loading);
  const rc_embed_options options = options_of(wish);
  // Empty texts have no tokens; they keep their places in the output.
  std::vector<bool> empty;
  std::vector<const char*> pointers;
  std::vector<size_t> lengths;
  for (const std::string& text : texts) {
    empty.push_back(text.empty());
    if (text.empty()) continue;
    pointers.push_back(text.data());
    lengths.push_back(text.size());
  }
  const auto embedding = make<Embedding>(
      rc_embed_async, model.get(), pointers.data(), lengths.data(),
      pointers.size(), &options, nullptr, nullptr, nullptr);
  const RowsView rows = wait_for_rows(embedding);
  constexpr std::string_view kNumpy = ".npy";
  const std::string& path = wish.output;
  if (path.empty()) {
    print(json_lines(rows, empty));
  } else if (path.ends_with(kNumpy)) {
    write_whole_file(path, npy_bytes(rows, empty));
  } else {
    write_whole_file(path, json_lines(rows, empty));
  }
}

}  // namespace

void add_embed(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "embed", "Makes embeddings of texts, a row for each line");
  auto wish = std::make_shared<EmbedWish>();
  begin_group(*command, "Texts and rows");
  takes_file(command->add_option(
      "--input", wish->input,
      "the texts: the lines of a file, or of a .jsonl file the strings or "
      "members \"text\"; default: the lines of stdin"));
  takes_file(command->add_option(
      "-o,--output", wish->output,
      "the file to write: NumPy's if its name ends with .npy, else a line of "
      "JSON for each text; default: these lines on stdout"));
  add_force(*command, wish->force);
  one_of(command->add_option("--pooling", wish->pooling,
                             "how the rows of tokens become one; auto: as the "
                             "model's file says; cls: first"),
         {"auto", "mean", "first", "cls", "last"})
      ->capture_default_str();
  CLI::Option* normalize =
      command->add_flag("--normalize", wish->normalize,
                        "divide each row by its length; default: as the "
                        "model's folder says, or yes");
  command
      ->add_flag("--no-normalize", wish->keep_length,
                 "do not divide rows by their length")
      ->excludes(normalize);
  limit<int64_t>(command->add_option("--dimensions", wish->dimensions,
                                     "take this many numbers of each row, from "
                                     "its beginning"),
                 {1});
  CLI::Option* prompt = command->add_option(
      "--prompt", wish->prompt,
      "a text that is put before each text; query and document are those of "
      "--prompt-name");
  command
      ->add_option("--prompt-name", wish->prompt_name,
                   "which prompt of the model's folder is put before each "
                   "text, such as query or document")
      ->type_name("NAME")
      ->excludes(prompt);
  command->add_flag("--truncate", wish->truncate,
                    "take the beginning of texts that are too long");
  wish->model.add_to(*command);
  command->callback([wish] { embed(*wish); });
}

}  // namespace cli
