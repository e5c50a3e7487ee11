// Embeddings and scores that are refused, each with its message, and the
// nearest that are made: of models of tests/golden/embeddings.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/embedding.h"
#include "engine_util.h"
#include "expect_error.h"
#include "files/gguf/writer.h"
#include "test_data.h"

namespace rc::engine::test {
namespace {

using model::ForwardOutput;
using model::ModelFile;

template <class Call>
void expect_refused(rc_status status, const std::string& end,
                    const Call& call) {
  rc::test::expect_error(status, "", end, call);
}

std::string folder(const char* name) {
  return rc::test::source_path("tests/golden/embeddings") / name;
}

std::shared_ptr<const ModelFile> open(const char* name, ForwardOutput output) {
  return ModelFile::open(folder(name), output);
}

// The file as the functions change it: true for what they leave out or have
// written themselves.
std::shared_ptr<const ModelFile> rewritten(
    const ModelFile& model,
    const std::function<bool(gguf::Writer&, const gguf::Entry&)>& entry,
    const std::function<bool(gguf::Writer&, const gguf::Tensor&)>& tensor) {
  const gguf::File& file = model.file();
  gguf::Writer writer;
  for (const gguf::Entry& e : file.entries()) {
    if (!entry || !entry(writer, e)) writer.add(e);
  }
  for (const gguf::Tensor& t : file.tensors()) {
    if (!tensor || !tensor(writer, t)) {
      writer.add_tensor(t.name, t.dtype, t.shape,
                        [&](const auto& put) { put(file.read(t)); });
    }
  }
  const auto bytes =
      std::make_shared<const std::vector<std::byte>>(writer.write_memory());
  return ModelFile::from_gguf(gguf::File::from_memory(bytes, *bytes, "changed"),
                              model.output());
}

std::string words(const char* word, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += (i > 0 ? " " : "") + std::string(word);
  return text;
}

std::string too_long(const std::string& what, size_t tokens, size_t most) {
  return what + " has " + std::to_string(tokens) +
         " tokens, but the model takes at most " + std::to_string(most) +
         "; shorten it, set truncate, or load the model with a larger "
         "context_length if it was trained for more";
}

std::shared_ptr<Engine> load_file(std::shared_ptr<const ModelFile> file,
                                  int64_t context = 0) {
  EngineOptions options;
  options.context_length = context;
  return Engine::load(std::move(file), open_device(), options, {});
}

TEST(EmbeddingErrors, UnknownPromptNamesAreRefused) {
  const auto file = open("bert-mean", ForwardOutput::kHiddenRows);
  const auto prompt = [](const ModelFile& model,
                         std::optional<std::string> name) {
    EmbedOptions options;
    options.prompt_name = std::move(name);
    return *resolve(options, model).prompt;
  };
  expect_refused(RC_E_NOT_FOUND,
                 ": it has no prompt 'poem'; it has 'query', 'document'",
                 [&] { prompt(*file, "poem"); });
  EXPECT_EQ(prompt(*file, "query"), "the red ");
  EXPECT_EQ(prompt(*file, "document"), "a tree ");
  EXPECT_EQ(prompt(*file, {}), "");

  const auto without =
      rewritten(*file,
                [](gguf::Writer&, const gguf::Entry& entry) {
                  return entry.key.starts_with("sentence_transformers.prompt.");
                },
                {});
  expect_refused(RC_E_NOT_FOUND,
                 "changed: it has no prompt 'poem'; it has none at all",
                 [&] { prompt(*without, "poem"); });
  EXPECT_EQ(prompt(*without, "query"), "");
  EXPECT_EQ(prompt(*without, "document"), "");

  for (const std::string name : {"document", "poem"}) {
    const auto chosen = rewritten(
        *file,
        [&](gguf::Writer& writer, const gguf::Entry& entry) {
          if (entry.key != "general.architecture") return false;
          writer.add("sentence_transformers.default_prompt_name", name);
          writer.add(entry);
          return true;
        },
        {});
    if (name == "document") {
      EXPECT_EQ(prompt(*chosen, {}), "a tree ");
      EXPECT_EQ(prompt(*chosen, "query"), "the red ");
    } else {
      expect_refused(
          RC_E_NOT_FOUND,
          "changed: it has no prompt 'poem'; it has 'query', 'document'",
          [&] { prompt(*chosen, {}); });
    }
  }
}

TEST(EmbeddingErrors, DimensionsMustNotExceedThoseOfTheModel) {
  const auto file = open("bert-mean", ForwardOutput::kHiddenRows);
  EmbedOptions options;
  for (const int64_t dimensions : {-1, 33}) {
    options.dimensions = dimensions;
    expect_refused(RC_E_INVALID_ARGUMENT,
                   "dimensions is " + std::to_string(dimensions) +
                       "; it must be 1 to 32, or 0 for all",
                   [&] { resolve(options, *file); });
  }
  for (const int64_t dimensions : {0, 1, 32}) {
    options.dimensions = dimensions;
    EXPECT_EQ(resolve(options, *file).dimensions,
              dimensions == 0 ? 32 : dimensions);
  }
}

TEST(EmbeddingErrors, ModelsLoadedForOtherOutputsAreRefused) {
  const auto rows = open("bert-mean", ForwardOutput::kHiddenRows);
  const auto scores = open("bert-cross", ForwardOutput::kScores);
  const auto text = small_model();
  expect_refused(RC_E_UNSUPPORTED,
                 ": the model was loaded for text, not for embeddings; load it "
                 "with output = RC_OUTPUT_HIDDEN_ROWS",
                 [&] { resolve(EmbedOptions(), *text); });
  expect_refused(RC_E_UNSUPPORTED,
                 ": the model was loaded for scores of pairs of texts, not for "
                 "embeddings; load it with output = RC_OUTPUT_HIDDEN_ROWS",
                 [&] { resolve(EmbedOptions(), *scores); });
  expect_refused(RC_E_UNSUPPORTED,
                 ": the model was loaded for text, not for scores; load it "
                 "with output = RC_OUTPUT_SCORES",
                 [&] { resolve(RerankOptions(), *text); });
  expect_refused(RC_E_UNSUPPORTED,
                 ": the model was loaded for embeddings, not for scores; load "
                 "it with output = RC_OUTPUT_SCORES",
                 [&] { resolve(RerankOptions(), *rows); });
  EXPECT_EQ(resolve(EmbedOptions(), *rows).dimensions, 32);
  EXPECT_FALSE(resolve(RerankOptions(), *scores).prompt);
}

TEST(RerankErrors, ClassifiersWithSeveralClassesAreRefused) {
  const auto file = open("bert-cross", ForwardOutput::kScores);
  std::vector<std::vector<std::byte>> kept;  // the writer refers to them
  for (const int64_t classes : {1, 2, 3}) {
    const auto changed =
        rewritten(*file, {}, [&](gguf::Writer& writer, const gguf::Tensor& t) {
          if (!t.name.starts_with("cls.output.")) return false;
          std::vector<int64_t> shape = t.shape;
          EXPECT_EQ(shape[0], 1);
          shape[0] = classes;
          const std::vector<std::byte> row = file->file().read(t);
          auto& data = kept.emplace_back();
          for (int64_t i = 0; i < classes; ++i) {
            data.insert(data.end(), row.begin(), row.end());
          }
          writer.add_tensor(t.name, t.dtype, shape, data);
          return true;
        });
    if (classes == 1) {
      EXPECT_NO_THROW(resolve(RerankOptions(), *changed));
      continue;
    }
    expect_refused(RC_E_UNSUPPORTED,
                   "changed: its classifier has " + std::to_string(classes) +
                       " classes; a score is of one, or of yes and no",
                   [&] { resolve(RerankOptions(), *changed); });
  }
}

TEST(RerankErrors, PromptsAreForTextModelsOnly) {
  RerankOptions options;
  options.prompt = "{query} {document}";
  expect_refused(
      RC_E_INVALID_ARGUMENT,
      "prompt: the model reads a pair of texts as they are; only "
      "models that generate text are asked",
      [&] { resolve(options, *open("bert-cross", ForwardOutput::kScores)); });
  const auto file = open("qwen3-yes-no", ForwardOutput::kScores);
  EXPECT_EQ(resolve(options, *file).prompt, "{query} {document}");
  for (const std::string name : {"{query}", "{document}"}) {
    options.prompt = name == "{query}" ? "{document} query" : "{query}";
    expect_refused(RC_E_INVALID_ARGUMENT,
                   "prompt: it has no " + name +
                       ", so that the score could not depend on it",
                   [&] { resolve(options, *file); });
  }
}

TEST(EmbeddingErrors, TextsHaveAtMostTheTokensOfTheContext) {
  // With a token before the text and one behind it.
  const auto engine = load_file(open("bert-mean", ForwardOutput::kHiddenRows));
  EmbedOptions options = resolve(EmbedOptions(), engine->file());
  const auto row = [&](Engine& of, size_t count) {
    return embed(of, nullptr, {words("spoon", count)}, options).values;
  };
  const auto longest = row(*engine, 62);
  expect_refused(RC_E_CONTEXT_FULL, too_long("text 0", 65, 64),
                 [&] { row(*engine, 63); });
  expect_refused(RC_E_CONTEXT_FULL, too_long("text 1", 65, 64), [&] {
    embed(*engine, nullptr, {"spoon", words("spoon", 63)}, options);
  });
  options.rows.truncate = true;
  EXPECT_EQ(row(*engine, 63), longest);
  // Nothing is left for the text where the two tokens take the context.
  const auto two = load_file(open("bert-mean", ForwardOutput::kHiddenRows), 2);
  expect_refused(RC_E_CONTEXT_FULL, too_long("text 0", 3, 2),
                 [&] { row(*two, 1); });
  const auto three =
      load_file(open("bert-mean", ForwardOutput::kHiddenRows), 3);
  EXPECT_EQ(row(*three, 2), row(*three, 1));
}

TEST(RerankErrors, PairsHaveAtMostTheTokensOfTheContext) {
  const auto engine = load_file(open("bert-cross", ForwardOutput::kScores));
  RerankOptions options = resolve(RerankOptions(), engine->file());
  const auto score = [&](size_t query, size_t document) {
    return rerank(*engine, nullptr, words("fork", query),
                  {"a spoon", words("spoon", document)}, options)
        .values;
  };
  // Three tokens are around the two texts.
  const auto longest = score(1, 60);
  expect_refused(RC_E_CONTEXT_FULL,
                 too_long("the query with document 1", 65, 64),
                 [&] { score(1, 61); });
  options.rows.truncate = true;
  EXPECT_EQ(score(1, 61), longest);
  // A query that leaves no token to the document, and one that is too long.
  EXPECT_EQ(score(61, 2), score(61, 9));
  expect_refused(RC_E_CONTEXT_FULL,
                 too_long("the query with document 0", 67, 64),
                 [&] { score(62, 2); });
}

TEST(RerankErrors, QuestionsHaveAtMostTheTokensOfTheContext) {
  const auto engine =
      load_file(open("qwen3-yes-no", ForwardOutput::kScores), 16);
  RerankOptions options;
  options.prompt = "{query} over {document} ?";
  options = resolve(options, engine->file());
  const auto score = [&](size_t query, const std::string& document) {
    return rerank(*engine, nullptr, words("fork", query), {"a", document},
                  options)
        .values;
  };
  const auto longest = score(1, words("spoon", 13));
  expect_refused(RC_E_CONTEXT_FULL,
                 too_long("the prompt with document 1", 17, 16),
                 [&] { score(1, words("spoon", 14)); });
  options.rows.truncate = true;
  EXPECT_EQ(score(1, words("spoon", 14)), longest);
  // Nothing is left of the document, and then there is too much without it.
  EXPECT_EQ(score(14, "spoon"), score(14, ""));
  expect_refused(RC_E_CONTEXT_FULL,
                 too_long("the prompt with document 0", 17, 16),
                 [&] { score(15, ""); });
}

}  // namespace
}  // namespace rc::engine::test
