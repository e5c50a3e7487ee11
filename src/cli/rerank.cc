#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "commands.h"
#include "number.h"
#include "rows_file.h"
#include "terminal.h"

namespace cli {
namespace {

struct RerankWish {
  ModelChoice model;
  std::string query;
  std::string documents;
  std::string prompt;
  int64_t top = 0;
  bool raw = false;
  bool truncate = false;
  bool json = false;
};

void rerank(const RerankWish& wish) {
  const std::vector<std::string> documents =
      read_texts(wish.documents, {"text", "document"});
  const Backend backend = wish.model.open_backend();
  rc_model_options loading = wish.model.options();
  loading.output = RC_OUTPUT_SCORES;
  const Model model = wish.model.load(backend, loading);
  rc_rerank_options options = RC_RERANK_OPTIONS_INIT;
  options.raw_scores = wish.raw ? 1 : 0;
  options.truncate = wish.truncate ? 1 : 0;
  if (!wish.prompt.empty()) options.prompt = wish.prompt.c_str();
  std::vector<const char*> pointers;
  std::vector<size_t> lengths;
  for (const std::string& document : documents) {
    pointers.push_back(document.data());
    lengths.push_back(document.size());
  }
  const auto embedding =
      make<Embedding>(rc_rerank_async, model.get(), wish.query.data(),
                      wish.query.size(), pointers.data(), lengths.data(),
                      documents.size(), &options, nullptr, nullptr, nullptr);
  const RowsView scores = wait_for_rows(embedding);
  std::vector<size_t> order(documents.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return scores.values[a] > scores.values[b];
  });
  if (wish.top > 0 && static_cast<size_t>(wish.top) < order.size()) {
    order.resize(static_cast<size_t>(wish.top));
  }
  std::string lines;
  for (const size_t i : order) {
    const std::string score = number_text(scores.values[i]);
    if (wish.json) {
      using Json = nlohmann::json;
      lines += "{\"score\": " + score + ", \"index\": " + std::to_string(i) +
               ", \"text\": " +
               Json(documents[i])
                   .dump(-1, ' ', false, Json::error_handler_t::replace) +
               "}\n";
    } else {
      lines += score + "\t" + documents[i] + "\n";
    }
  }
  print(lines);
}

}  // namespace

void add_rerank(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "rerank", "Scores how well documents answer a query, the best first");
  auto wish = std::make_shared<RerankWish>();
  wish->model.path.clear();
  wish->model.add_to(*command);
  begin_group(*command, "Scores");
  command->add_option("QUERY", wish->query, "the question or search")
      ->required()
      ->type_name("");
  takes_file(command->add_option(
      "FILE", wish->documents,
      "the documents: the lines of a file, or of a .jsonl file the strings or "
      "members \"text\"; default: the lines of stdin"));
  command->add_option("--prompt", wish->prompt,
                      "the question to a model that generates text, with "
                      "{query} and {document} in it; default: as its file "
                      "says");
  limit<int64_t>(
      command->add_option("--top", wish->top, "print this many of the best"),
      {1});
  command->add_flag("--raw-scores,--raw", wish->raw,
                    "print the scores of the model, which are logits, instead "
                    "of probabilities");
  command->add_flag("--truncate", wish->truncate,
                    "take the beginning of documents that are too long");
  command->add_flag("--json", wish->json,
                    "print a line of JSON for each document");
  end_group(*command);
  command->callback([wish] { rerank(*wish); });
}

}  // namespace cli
