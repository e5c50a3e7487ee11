// embed.h, with models and rows that sentence-transformers wrote; see
// tests/golden/embeddings/make.py.
#include "runcible/embed.h"

#include <algorithm>
#include <atomic>

#include "api/embedding/embed_util.h"
#include "base/error.h"
#include "temporary.h"

namespace rc::test {
namespace {

struct Case {
  const char* backend;
  const char* model;
};

class Golden : public ::testing::TestWithParam<Case> {};

TEST_P(Golden, EmbeddingsMatchSentenceTransformers) {
  const Texts texts = about()["texts"];
  const Backend backend = open_on(GetParam().backend);
  const Model model =
      load(backend.get(), (folder() / GetParam().model).string());
  std::vector<float> rows = embed(model.get(), texts);
  rc_embed_options options = RC_EMBED_OPTIONS_INIT;
  options.prompt_name = "query";
  const auto with_prompt = embed(model.get(), texts, &options);
  rows.insert(rows.end(), with_prompt.begin(), with_prompt.end());
  const std::vector<float> expected = golden(GetParam().model);
  ASSERT_EQ(rows.size(), expected.size());
  const size_t width = rows.size() / texts.size() / 2;
  for (size_t i = 0; i < rows.size(); i += width) {
    EXPECT_GE(cosine(&rows[i], &expected[i], width), 0.99999) << i / width;
    for (size_t j = i; j < i + width; ++j) {
      EXPECT_NEAR(rows[j], expected[j], 5e-3) << i / width;
    }
  }
}

// With others or alone, in one step or several: the same bits.
TEST_P(Golden, RowDoesNotDependOnTheRestOfItsBatch) {
  const Texts texts = about()["texts"];
  const Backend backend = open_on(GetParam().backend);
  const std::string path = (folder() / GetParam().model).string();
  for (const rc_pooling pooling :
       {RC_POOLING_MEAN, RC_POOLING_FIRST, RC_POOLING_LAST}) {
    rc_embed_options options = RC_EMBED_OPTIONS_INIT;
    options.pooling = pooling;
    std::vector<float> alone;
    {
      const Model model = load(backend.get(), path, RC_OUTPUT_AUTO, 16);
      for (const std::string& text : texts) {
        const auto row = embed(model.get(), {text}, &options);
        alone.insert(alone.end(), row.begin(), row.end());
      }
    }
    const Model model = load(backend.get(), path);
    EXPECT_EQ(embed(model.get(), texts, &options), alone) << pooling;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Devices, Golden,
    ::testing::Values(Case{"reference", "bert-mean"},
                      Case{"reference", "bert-cls"},
                      Case{"reference", "qwen3-last"}, Case{"cpu", "bert-mean"},
                      Case{"cpu", "bert-cls"}, Case{"cpu", "qwen3-last"}),
    [](const auto& each) {
      std::string name = cat(each.param.backend, "_", each.param.model);
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

class Embed : public ::testing::Test {
 protected:
  const Backend backend_ = open_on("cpu");
  const Model model_ = load(backend_.get(), (folder() / "bert-mean").string());
};

TEST_F(Embed, CrossEncoderScoresMatchSentenceTransformers) {
  const Texts texts = about()["texts"];
  const std::string query = about()["query"];
  const std::vector<float> expected = golden("bert-cross");
  for (const char* spec : {"reference", "cpu"}) {
    const Backend backend = open_on(spec);
    const Model model = load(backend.get(), (folder() / "bert-cross").string());
    const std::vector<float> scores = rerank(model.get(), query, texts);
    ASSERT_EQ(scores.size(), expected.size());
    for (size_t i = 0; i < scores.size(); ++i) {
      EXPECT_NEAR(scores[i], expected[i], 2e-3) << spec << " " << i;
      // Alone it has the same bits.
      EXPECT_EQ(rerank(model.get(), query, {texts[i]})[0], scores[i]);
    }
    rc_rerank_options options = RC_RERANK_OPTIONS_INIT;
    options.raw_scores = 1;
    const std::vector<float> raw = rerank(model.get(), query, texts, &options);
    for (size_t i = 0; i < raw.size(); ++i) {
      EXPECT_NEAR(1.0 / (1.0 + std::exp(-raw[i])), scores[i], 1e-6);
    }
  }
}

// The classifier is left out where the hidden rows are asked for.
TEST_F(Embed, ACrossEncoderGivesHiddenRowsToo) {
  const Model model = load(backend_.get(), (folder() / "bert-cross").string(),
                           RC_OUTPUT_HIDDEN_ROWS);
  EXPECT_EQ(embed(model.get(), {"a spoon"}).size(), 32u);
}

TEST_F(Embed, RowsAreShortenedBeforeTheyAreNormalised) {
  rc_embed_options options = RC_EMBED_OPTIONS_INIT;
  options.normalize = 0;
  const auto raw = embed(model_.get(), {"a spoon"}, &options);
  options.dimensions = 5;
  const auto shorter = embed(model_.get(), {"a spoon"}, &options);
  ASSERT_EQ(shorter.size(), 5u);
  EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), raw.begin()));
  options.normalize = 1;
  const auto normed = embed(model_.get(), {"a spoon"}, &options);
  double length = 0;
  for (const float x : normed) length += static_cast<double>(x) * x;
  EXPECT_NEAR(length, 1.0, 1e-6);
  EXPECT_GT(cosine(normed.data(), shorter.data(), 5), 0.9999999);
}

TEST_F(Embed, PromptsArePrepended) {
  rc_embed_options options = RC_EMBED_OPTIONS_INIT;
  options.prompt = "the red ";
  const auto given = embed(model_.get(), {"spoon"}, &options);
  options.prompt = nullptr;
  options.prompt_name = "query";  // the same, of the folder
  EXPECT_EQ(embed(model_.get(), {"spoon"}, &options), given);
  EXPECT_EQ(embed(model_.get(), {"the red spoon"}), given);
  std::vector<float> rows;
  options.prompt_name = "poem";
  EXPECT_FAILS(RC_E_NOT_FOUND,
               try_embed(model_.get(), {"spoon"}, &options, &rows), "poem",
               "query", "document");
  options.prompt = "both";
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               try_embed(model_.get(), {"spoon"}, &options, &rows),
               "prompt_name");
}

TEST_F(Embed, LongTextsAreRefusedOrTruncated) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "spoon ";
  std::vector<float> rows;
  EXPECT_FAILS(RC_E_CONTEXT_FULL,
               try_embed(model_.get(), {"a", text}, nullptr, &rows), "text 1",
               "102", "64", "truncate");
  rc_embed_options options = RC_EMBED_OPTIONS_INIT;
  options.truncate = 1;
  const auto cut = embed(model_.get(), {text}, &options);
  std::string longest;
  for (int i = 0; i < 62; ++i) longest += "spoon ";
  EXPECT_EQ(embed(model_.get(), {longest}), cut);
}

TEST_F(Embed, EmptyListsAndTextsAreCheckedByKindOfModel) {
  std::vector<float> rows;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               try_embed(model_.get(), {}, nullptr, &rows), "count: 0");
  // An encoder's text has tokens around it.
  EXPECT_EQ(embed(model_.get(), {""}).size(), 32u);
  rc_embedding* made = nullptr;
  const char* const nothing[] = {nullptr};
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_embed(model_.get(), nothing, nullptr, 1, nullptr, &made),
               "texts[0]: NULL");
  const char* const second[] = {"a", nullptr};
  const size_t lengths[] = {1, 1};
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_embed(model_.get(), second, lengths, 2, nullptr, &made),
               "texts[1]: NULL");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_embed(model_.get(), nullptr, nullptr, 1, nullptr, &made),
               "texts");
}

TEST_F(Embed, ModelsLoadedForOtherOutputsAreRefusedWithARemedy) {
  std::vector<float> rows;
  const Model text = load(backend_.get(), "builtin:fable");
  EXPECT_FAILS(RC_E_UNSUPPORTED, try_embed(text.get(), {"a"}, nullptr, &rows),
               "RC_OUTPUT_HIDDEN_ROWS");
  rc_embedding* made = nullptr;
  const char* const documents[] = {"a"};
  EXPECT_FAILS(
      RC_E_UNSUPPORTED,
      rc_rerank(model_.get(), "a", 1, documents, nullptr, 1, nullptr, &made),
      "RC_OUTPUT_SCORES");
  rc_session* session = nullptr;
  EXPECT_FAILS(RC_E_UNSUPPORTED,
               rc_session_create(model_.get(), nullptr, &session),
               "hidden rows");
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  rc_model* model = nullptr;
  const std::string path = (folder() / "bert-mean").string();
  options.output = RC_OUTPUT_SCORES;
  EXPECT_FAILS(RC_E_UNSUPPORTED,
               rc_model_load(backend_.get(), path.c_str(), &options, &model),
               "cls.output");
  options.output = RC_OUTPUT_LOGITS;
  EXPECT_FAILS(RC_E_UNSUPPORTED,
               rc_model_load(backend_.get(), path.c_str(), &options, &model),
               "hidden rows");
}

struct EmbedEnd {
  std::atomic<int> times{0};
  rc_status status = RC_OK;
  std::string message;
  std::vector<float> rows;
};

void on_end(void* user, rc_status status, const char* message,
            rc_embedding* embedding) {
  auto& ended = *static_cast<EmbedEnd*>(user);
  ended.status = status;
  ended.message = message;
  if (status == RC_OK) ended.rows = rows_of(embedding);
  ++ended.times;
}

TEST_F(Embed, EndIsDeliveredOnceOnTheLoop) {
  rc_loop* made_loop = nullptr;
  ASSERT_OK(rc_loop_create(&made_loop));
  const Loop loop(made_loop);
  EmbedEnd ended;
  const char* const texts[] = {"a spoon", "the red fork"};
  ASSERT_OK(rc_embed_async(model_.get(), texts, nullptr, 2, nullptr, loop.get(),
                           on_end, &ended, nullptr));
  while (ended.times == 0) {
    ASSERT_OK(rc_loop_wait(loop.get(), -1));
    ASSERT_OK(rc_loop_dispatch(loop.get(), 0, nullptr));
  }
  EXPECT_EQ(ended.status, RC_OK) << ended.message;
  EXPECT_EQ(ended.rows, embed(model_.get(), {"a spoon", "the red fork"}));
  EXPECT_EQ(ended.times, 1);
}

TEST_F(Embed, WithoutACallbackTheCallerWaits) {
  const char* const texts[] = {"a spoon"};
  rc_embedding* made = nullptr;
  ASSERT_OK(rc_embed_async(model_.get(), texts, nullptr, 1, nullptr, nullptr,
                           nullptr, nullptr, &made));
  const Embedding embedding(made);
  ASSERT_OK(rc_embedding_wait(made, -1));
  EXPECT_EQ(rows_of(made), embed(model_.get(), {"a spoon"}));
  EXPECT_OK(rc_embedding_cancel(made));  // too late
  EXPECT_OK(rc_embedding_wait(made, 0));
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_embed_async(model_.get(), texts, nullptr, 1, nullptr, nullptr,
                              nullptr, nullptr, nullptr),
               "callback");
}

// A text whose rows see each other has its pages in the cache all at once.
TEST_F(Embed, SmallCacheIsEnoughForManyTexts) {
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  options.cache_tokens = 32;
  rc_model* made = nullptr;
  ASSERT_OK(rc_model_load(backend_.get(),
                          (folder() / "bert-mean").string().c_str(), &options,
                          &made));
  const Model model(made);
  Texts texts(40, "a spoon");
  for (int i = 0; i < 25; ++i) texts[7] += " spoon";
  const auto rows = embed(made, texts);
  EXPECT_EQ(rows, embed(model_.get(), texts));
  for (int i = 0; i < 10; ++i) texts[7] += " spoon";
  std::vector<float> none;
  EXPECT_FAILS(RC_E_CONTEXT_FULL, try_embed(made, texts, nullptr, &none),
               "text 7", "at most 32");
}

// The request has too many texts to be finished when the thread begins.
TEST_F(Embed, CancelEndsTheRequest) {
  const Texts many(50'000, "the old cat sees a very large bird over the river");
  const Pointers given(many);
  rc_embedding* made = nullptr;
  ASSERT_OK(rc_embed_async(model_.get(), given.pointers.data(),
                           given.lengths.data(), many.size(), nullptr, nullptr,
                           nullptr, nullptr, &made));
  const Embedding embedding(made);
  const float* rows = nullptr;
  size_t count = 0;
  size_t columns = 0;
  EXPECT_FAILS(RC_E_BUSY, rc_embedding_rows(made, &rows, &count, &columns),
               "rc_embedding_wait");
  EXPECT_FAILS(RC_E_TIMEOUT, rc_embedding_wait(made, 0),
               "the embedding has not ended after 0 ms");
  EXPECT_OK(rc_embedding_cancel(made));
  EXPECT_FAILS(RC_E_CANCELLED, rc_embedding_wait(made, -1), "cancelled");
  EXPECT_FAILS(RC_E_CANCELLED, rc_embedding_rows(made, &rows, &count, &columns),
               "cancelled");
  // The model goes on.
  EXPECT_EQ(embed(model_.get(), {"a"}).size(), 32u);
}

TEST_F(Embed, ClosingTheLoopEndsTheRequest) {
  rc_loop* made_loop = nullptr;
  ASSERT_OK(rc_loop_create(&made_loop));
  const Loop loop(made_loop);
  const Texts many(50'000, "the old cat sees a very large bird over the river");
  const Pointers given(many);
  EmbedEnd ended;
  rc_embedding* made = nullptr;
  ASSERT_OK(rc_embed_async(model_.get(), given.pointers.data(),
                           given.lengths.data(), many.size(), nullptr,
                           loop.get(), on_end, &ended, &made));
  const Embedding embedding(made);
  EXPECT_OK(rc_loop_close(loop.get()));
  EXPECT_FAILS(RC_E_CANCELLED, rc_embedding_wait(made, -1), "cancelled");
}

TEST_F(Embed, DecodersScoreByTheAnswersYesAndNo) {
  const Texts texts = about()["texts"];
  const std::string query = about()["query"];
  const std::vector<float> expected = golden("qwen3-yes-no");
  rc_rerank_options asked = RC_RERANK_OPTIONS_INIT;
  asked.prompt = "the {query} over {document} ?";
  for (const char* spec : {"reference", "cpu"}) {
    const Backend backend = open_on(spec);
    const Model model = load(
        backend.get(), (folder() / "qwen3-yes-no").string(), RC_OUTPUT_SCORES);
    const std::vector<float> scores = rerank(model.get(), query, texts, &asked);
    ASSERT_EQ(scores.size(), expected.size());
    for (size_t i = 0; i < scores.size(); ++i) {
      EXPECT_NEAR(scores[i], expected[i], 2e-3) << spec << " " << i;
      EXPECT_EQ(rerank(model.get(), query, {texts[i]}, &asked)[0], scores[i]);
    }
    rc_embedding* made = nullptr;
    const char* const documents[] = {"a"};
    EXPECT_FAILS(
        RC_E_UNSUPPORTED,
        rc_rerank(model.get(), "a", 1, documents, nullptr, 1, nullptr, &made),
        "tokenizer.chat_template.rerank", "{query}");
    rc_rerank_options bad = asked;
    bad.prompt = "{document}";
    EXPECT_FAILS(
        RC_E_INVALID_ARGUMENT,
        rc_rerank(model.get(), "a", 1, documents, nullptr, 1, &bad, &made),
        "{query}");
  }
}

// A folder of Qwen3's kind that does not say how it is asked: by its tokens.
TEST_F(Embed, Qwen3RerankersUseThePromptOfTheirTraining) {
  const TemporaryFolder copy;
  const std::filesystem::path made = copy.path() / "reranker";
  std::filesystem::copy(folder() / "qwen3-yes-no", made);
  auto tokenizer =
      nlohmann::json::parse(std::ifstream(made / "tokenizer.json"));
  auto& vocabulary = tokenizer["model"]["vocab"];
  const auto rename = [&](const char* word, const char* token) {
    const int id = vocabulary[word];
    vocabulary.erase(word);
    vocabulary[token] = id;
    tokenizer["added_tokens"].push_back({{"id", id},
                                         {"content", token},
                                         {"single_word", false},
                                         {"lstrip", false},
                                         {"rstrip", false},
                                         {"normalized", false},
                                         {"special", true}});
  };
  rename("moon", "<|im_start|>");
  rename("sun", "<|im_end|>");
  rename("tree", "<think>");
  const auto write = [&] {
    std::ofstream(made / "tokenizer.json") << tokenizer.dump();
  };
  write();
  const Backend backend = open_on("cpu");
  const char* const documents[] = {"a red spoon"};
  {
    // One of its tokens is missing: it is another model.
    const Model other = load(backend.get(), made.string(), RC_OUTPUT_SCORES);
    rc_embedding* none = nullptr;
    EXPECT_FAILS(
        RC_E_UNSUPPORTED,
        rc_rerank(other.get(), "a", 1, documents, nullptr, 1, nullptr, &none),
        "tokenizer.chat_template.rerank");
  }
  rename("river", "</think>");
  write();
  const Model model = load(backend.get(), made.string(), RC_OUTPUT_SCORES);
  rc_rerank_options asked = RC_RERANK_OPTIONS_INIT;
  asked.prompt =
      "<|im_start|>system\nJudge whether the Document meets the requirements "
      "based on the Query and the Instruct provided. Note that the answer can "
      "only be \"yes\" or \"no\".<|im_end|>\n<|im_start|>user\n<Instruct>: "
      "Given a web search query, retrieve relevant passages that answer the "
      "query\n<Query>: {query}\n<Document>: {document}<|im_end|>\n"
      "<|im_start|>assistant\n<think>\n\n</think>\n\n";
  const Texts texts = {"a red spoon", "the old river"};
  const rc_rerank_options unsaid = RC_RERANK_OPTIONS_INIT;
  EXPECT_EQ(rerank(model.get(), "red or blue", texts, &unsaid),
            rerank(model.get(), "red or blue", texts, &asked));
  asked.prompt = "{query} {document}";
  EXPECT_NE(rerank(model.get(), "red or blue", texts, &unsaid),
            rerank(model.get(), "red or blue", texts, &asked));
}

TEST_F(Embed, AnswerOfSeveralTokensIsRefused) {
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  options.output = RC_OUTPUT_SCORES;
  rc_model* refused = nullptr;
  // In its vocabulary "yes" is three tokens.
  EXPECT_FAILS(
      RC_E_UNSUPPORTED,
      rc_model_load(backend_.get(), (folder() / "qwen3-last").string().c_str(),
                    &options, &refused),
      "\"yes\" is 3 tokens");
}

}  // namespace
}  // namespace rc::test
