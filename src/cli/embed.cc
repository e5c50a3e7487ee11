#include "commands.h"
#include "number.h"
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
  int64_t dimensions = 0;
  bool normalize = false;
  bool keep_length = false;
  bool truncate = false;
};

rc_pooling pooling_of(const std::string& name) {
  return name == "mean"   ? RC_POOLING_MEAN
         : name == "cls"  ? RC_POOLING_FIRST
         : name == "last" ? RC_POOLING_LAST
                          : RC_POOLING_AUTO;
}

void embed(const EmbedWish& wish) {
  const std::vector<std::string> texts = read_texts(wish.input, {"text"});
  const Backend backend = wish.model.open_backend();
  rc_model_options loading = wish.model.options();
  loading.output = RC_OUTPUT_HIDDEN_ROWS;
  const Model model = wish.model.load(backend, loading);
  rc_embed_options options = RC_EMBED_OPTIONS_INIT;
  options.pooling = pooling_of(wish.pooling);
  if (wish.normalize) options.normalize = 1;
  if (wish.keep_length) options.normalize = 0;
  options.dimensions = wish.dimensions;
  options.truncate = wish.truncate ? 1 : 0;
  if (wish.prompt == "query" || wish.prompt == "document") {
    options.prompt_name = wish.prompt.c_str();
  } else if (!wish.prompt.empty()) {
    options.prompt = wish.prompt.c_str();
  }
  std::vector<const char*> pointers;
  std::vector<size_t> lengths;
  for (const std::string& text : texts) {
    pointers.push_back(text.data());
    lengths.push_back(text.size());
  }
  const auto embedding = make<Embedding>(
      rc_embed_async, model.get(), pointers.data(), lengths.data(),
      texts.size(), &options, nullptr, nullptr, nullptr);
  const RowsView rows = wait_for_rows(embedding);
  constexpr std::string_view kNumpy = ".npy";
  const std::string& path = wish.output;
  if (path.empty()) {
    print(json_lines(rows));
  } else if (path.size() >= kNumpy.size() &&
             path.compare(path.size() - kNumpy.size(), kNumpy.size(), kNumpy) ==
                 0) {
    write_whole_file(path, npy_bytes(rows));
  } else {
    write_whole_file(path, json_lines(rows));
  }
}

}  // namespace

void add_embed(CLI::App& program) {
  CLI::App* command =
      program.add_subcommand("embed", "Embeddings of texts, a row for each");
  auto wish = std::make_shared<EmbedWish>();
  wish->model.add_to(*command);
  takes_file(command->add_option(
      "--input", wish->input,
      "the texts: the lines of a file, or of a .jsonl file the strings or "
      "members \"text\"; default: the lines of stdin"));
  takes_file(command->add_option(
      "-o,--output", wish->output,
      "the file to write: NumPy's if it ends with .npy, else a line of JSON "
      "for each text; default: these lines on stdout"));
  command
      ->add_option("--pooling", wish->pooling,
                   "how the rows of tokens become one; auto: as the model's "
                   "file says")
      ->check(CLI::IsMember({"auto", "mean", "cls", "last"}))
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
                                     "take the first so many numbers of each "
                                     "row"),
                 {1});
  command->add_option("--prompt", wish->prompt,
                      "what is put before each text: query or document, as "
                      "the model's folder has it, or a text");
  command->add_flag("--truncate", wish->truncate,
                    "take the beginning of texts that are too long");
  command->callback([wish] { embed(*wish); });
}

}  // namespace cli
