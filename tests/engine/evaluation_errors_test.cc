// Evaluations that are refused, each with its message, and the nearest that are
// made.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/evaluation/choices.h"
#include "engine/evaluation/text_score.h"
#include "engine/evaluation/windows.h"
#include "engine_util.h"
#include "expect_error.h"
#include "files/gguf/writer.h"

namespace rc::engine::test {
namespace {

using model::ModelFile;
using rc::test::expect_error;

// The small model with entries that the function has written itself.
std::shared_ptr<const ModelFile> rewritten(
    const std::function<bool(gguf::Writer&, const gguf::Entry&)>& entry) {
  const auto model = small_model();
  const gguf::File& file = model->file();
  gguf::Writer writer;
  for (const gguf::Entry& e : file.entries()) {
    if (!entry(writer, e)) writer.add(e);
  }
  for (const gguf::Tensor& t : file.tensors()) {
    writer.add_tensor(t.name, t.dtype, t.shape,
                      [&](const auto& put) { put(file.read(t)); });
  }
  const auto bytes =
      std::make_shared<const std::vector<std::byte>>(writer.write_memory());
  return ModelFile::from_gguf(
      gguf::File::from_memory(bytes, *bytes, "changed"));
}

// The small model whose tokenizer has these texts of its tokens.
std::shared_ptr<const ModelFile> with_tokens(
    const std::function<void(std::vector<std::string>& tokens)>& change) {
  const auto model = small_model();
  const auto texts = model->file().find_strings("tokenizer.ggml.tokens");
  std::vector<std::string> tokens(texts->begin(), texts->end());
  change(tokens);
  return rewritten([&](gguf::Writer& writer, const gguf::Entry& entry) {
    if (entry.key == "tokenizer.ggml.tokens") {
      writer.add_strings(entry.key, tokens);
    } else if (entry.key == "tokenizer.ggml.scores") {
      const auto scores = model->file().find_floats(entry.key).value();
      writer.add_array(
          entry.key, std::vector<float>(scores.begin(),
                                        scores.begin() + static_cast<ptrdiff_t>(
                                                             tokens.size())));
    } else if (entry.key == "tokenizer.ggml.token_type") {
      const auto types = model->file().find_ints(entry.key).value();
      writer.add_array(
          entry.key, std::vector<int32_t>(
                         types.begin(), types.begin() + static_cast<ptrdiff_t>(
                                                            tokens.size())));
    } else {
      return false;
    }
    return true;
  });
}

EvaluatedModel evaluated(std::shared_ptr<const ModelFile> file,
                         int64_t context = 64) {
  EngineOptions options;
  options.context_length = context;
  options.cache_tokens = 1024;
  return {Engine::load(std::move(file), open_device(), options, {}), nullptr};
}

TEST(EvaluationErrors, DifferentVocabulariesAreRefused) {
  const auto file = small_model();
  const auto refuse = [&](const ModelFile& other, const std::string& reason) {
    expect_error(RC_E_INVALID_ARGUMENT,
                 file->file().name() + " and " + other.file().name() +
                     " have different vocabularies, so they cannot be "
                     "compared: " +
                     reason,
                 [&] { check_same_vocabulary(*file, other); });
  };
  const auto flan = small_model("flan-t5");
  const int64_t theirs = flan->hyper_parameters().vocabulary;
  ASSERT_NE(theirs, 272);
  refuse(*flan, "272 tokens and " + std::to_string(theirs));
  refuse(*with_tokens([](auto& tokens) { tokens.pop_back(); }),
         "272 tokens with texts and 271");
  refuse(*with_tokens([](auto& tokens) { tokens.back() = "other"; }),
         "token 271 is '" + std::string(file->tokenizer()->token_text(271)) +
             "' and 'other'");
  EXPECT_NO_THROW(check_same_vocabulary(*file, *with_tokens([](auto&) {})));
}

TEST(EvaluationErrors, WindowsLongerThanTheTextAreRefused) {
  const auto file = small_model();
  // With the model's first token, and a space before the text.
  const auto cut = [&](const char* text) {
    return TextWindows(*file, text, {.context = 6}, 64, {});
  };
  expect_error(RC_E_INVALID_ARGUMENT,
               "the text is too short: it has 5 tokens, but a window has 6; "
               "give more text, or ask for a shorter context",
               [&] { cut("ABC"); });
  EXPECT_EQ(cut("ABCD").count(), 1);
  EXPECT_EQ(cut("ABCD").window(0).size(), 6u);
}

TEST(EvaluationErrors, ChoicesWithoutAPrecedingTokenAreRefused) {
  const auto none =
      rewritten([](gguf::Writer& writer, const gguf::Entry& entry) {
        if (entry.key == "tokenizer.ggml.add_bos_token") return true;
        if (entry.key != "tokenizer.ggml.tokens") return false;
        writer.add("tokenizer.ggml.add_bos_token", false);
        writer.add(entry);
        return true;
      });
  ASSERT_FALSE(none->tokenizer()->adds_bos());
  const auto score = [](const EvaluatedModel& model,
                        const std::string& context) {
    return score_choices(model, {{3, context, {"A", "B"}, 0}}, "q.jsonl", {})
        .questions;
  };
  expect_error(RC_E_INVALID_ARGUMENT,
               "q.jsonl, line 3: no token comes before choice 0, because the "
               "model has none to begin a text with; give the question a "
               "text that the choices do not change",
               [&] { score(evaluated(none), ""); });
  EXPECT_EQ(score(evaluated(none), "Q"), 1);
  EXPECT_EQ(score(evaluated(small_model()), ""), 1);
}

TEST(EvaluationErrors, ChoicesBeyondTheContextAreRefused) {
  const auto file = small_model();
  const auto score = [&](int64_t context, const std::string& second) {
    return score_choices(evaluated(file, context),
                         {{7, "AB", {"C", second}, 0}}, "q.jsonl", {})
        .questions;
  };
  expect_error(RC_E_INVALID_ARGUMENT,
               "q.jsonl, line 7: choice 1 comes to no token",
               [&] { score(64, ""); });
  // Six tokens: the first one, a space, A, B, a space and the choice.
  EXPECT_EQ(score(6, "D"), 1);
  expect_error(RC_E_CONTEXT_FULL,
               "q.jsonl, line 7: the question has 7 tokens with choice 1, "
               "but the model's context holds 6; load it with a larger "
               "context_length",
               [&] { score(6, "DE"); });
  EXPECT_EQ(score(7, "DE"), 1);
}

}  // namespace
}  // namespace rc::engine::test
