// Texts and options of embeddings, around the bounds of what they may be.
#include "api/embedding/embed_util.h"

namespace rc::test {
namespace {

class EmbedOptions : public ::testing::Test {
 protected:
  const Backend backend_ = open_on("cpu");
  const Model model_ = load(backend_.get(), (folder() / "bert-mean").string());
};

TEST_F(EmbedOptions, TextsEndAtTheirLengthsOrAtAZero) {
  const char* const texts[] = {"spoon and more", nullptr, "fork"};
  const size_t lengths[] = {5, 0, 4};
  rc_embedding* made = nullptr;
  ASSERT_OK(rc_embed(model_.get(), texts, lengths, 3, nullptr, &made));
  const Embedding by_lengths(made);
  EXPECT_EQ(rows_of(made), embed(model_.get(), {"spoon", "", "fork"}));
  const char* const ended[] = {"spoon", "", "fork"};
  ASSERT_OK(rc_embed(model_.get(), ended, nullptr, 3, nullptr, &made));
  const Embedding by_zeros(made);
  EXPECT_EQ(rows_of(made), rows_of(by_lengths.get()));
}

TEST_F(EmbedOptions, ErrorsNameTheOptionOutOfRange) {
  std::vector<float> rows;
  const auto refuse = [&](auto set, const char* name) {
    rc_embed_options options = RC_EMBED_OPTIONS_INIT;
    set(options);
    EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
                 try_embed(model_.get(), {"a"}, &options, &rows), name);
  };
  refuse([](rc_embed_options& o) { o.pooling = RC_POOLING_LAST + 1; },
         "options->pooling");
  refuse([](rc_embed_options& o) { o.pooling = RC_POOLING_AUTO - 1; },
         "options->pooling");
  refuse([](rc_embed_options& o) { o.normalize = 2; }, "options->normalize");
  refuse([](rc_embed_options& o) { o.normalize = -2; }, "options->normalize");
  refuse([](rc_embed_options& o) { o.dimensions = 33; }, "dimensions is 33");
  refuse([](rc_embed_options& o) { o.dimensions = -1; }, "dimensions");
  refuse([](rc_embed_options& o) { o.truncate = 2; }, "truncate");
  refuse([](rc_embed_options& o) { o.deadline_ms = -1; }, "deadline_ms");
  const char* const documents[] = {"a"};
  const auto refuse_scores = [&](auto set, const char* name) {
    rc_rerank_options options = RC_RERANK_OPTIONS_INIT;
    set(options);
    rc_embedding* made = nullptr;
    EXPECT_FAILS(
        RC_E_INVALID_ARGUMENT,
        rc_rerank(model_.get(), "a", 1, documents, nullptr, 1, &options, &made),
        name);
    EXPECT_EQ(made, nullptr);
  };
  refuse_scores([](rc_rerank_options& o) { o.raw_scores = 2; },
                "options->raw_scores");
  refuse_scores([](rc_rerank_options& o) { o.truncate = -1; },
                "options->truncate");
  refuse_scores([](rc_rerank_options& o) { o.deadline_ms = -1; },
                "options->deadline_ms");
}

TEST_F(EmbedOptions, BoundsAreAccepted) {
  rc_embed_options options = RC_EMBED_OPTIONS_INIT;
  const auto given = embed(model_.get(), {"spoon"}, &options);
  options.dimensions = 32;  // all that there are
  EXPECT_EQ(embed(model_.get(), {"spoon"}, &options), given);
  options.deadline_ms = 1'000'000;
  EXPECT_EQ(embed(model_.get(), {"spoon"}, &options), given);
  options.pooling = RC_POOLING_MEAN;  // that of the model
  EXPECT_EQ(embed(model_.get(), {"spoon"}, &options), given);
  std::vector<std::vector<float>> others;
  for (const auto pooling : {RC_POOLING_FIRST, RC_POOLING_LAST}) {
    options.pooling = pooling;
    others.push_back(embed(model_.get(), {"spoon"}, &options));
    EXPECT_NE(others.back(), given);
  }
  EXPECT_NE(others[0], others[1]);
  options = RC_EMBED_OPTIONS_INIT;
  options.normalize = 0;
  const auto raw = embed(model_.get(), {"spoon"}, &options);
  options.normalize = 1;
  const auto normed = embed(model_.get(), {"spoon"}, &options);
  EXPECT_NE(raw, normed);
  EXPECT_GT(cosine(raw.data(), normed.data(), 32), 0.999999);
}

}  // namespace
}  // namespace rc::test
