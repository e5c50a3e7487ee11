// Folders whose vocabulary is a tokenizer.model.
#include "files/folder/folder_util.h"
#include "test_data.h"

namespace rc::folder {
namespace {

class PieceMetadata : public test::FolderTest {
 protected:
  void SetUp() override {
    copy("llama");
    const auto pieces = rc::test::source_path("tests/golden/tokenizers/pieces");
    std::filesystem::copy(pieces / "bpe-no-prefix.model",
                          path("tokenizer.model"));
  }
};

TEST_F(PieceMetadata, HasTheKeysOfGguf) {
  change("config.json", R"({"vocab_size": 530, "bos_token_id": null})");
  const auto file = open();
  EXPECT_EQ(file->get_string("tokenizer.ggml.model"), "llama");
  const auto tokens = *file->find_strings("tokenizer.ggml.tokens");
  const auto types = *file->find_ints("tokenizer.ggml.token_type");
  const auto scores = *file->find_floats("tokenizer.ggml.scores");
  ASSERT_EQ(tokens.size(), 530u);
  EXPECT_EQ(types.size(), 530u);
  EXPECT_EQ(scores.size(), 530u);
  EXPECT_EQ(tokens[529], "[PAD529]");
  EXPECT_EQ(types[529], 5);
  EXPECT_EQ(file->get_int("tokenizer.ggml.bos_token_id"), 1);
  EXPECT_EQ(file->get_int("tokenizer.ggml.unknown_token_id"), 0);
  EXPECT_EQ(file->find_bool("tokenizer.ggml.add_space_prefix"), false);
  EXPECT_EQ(file->find_bool("tokenizer.ggml.remove_extra_whitespaces"), false);
  // Marks of user-defined tokens are spaces.
  EXPECT_NE(std::ranges::find(tokens, "    "), tokens.end());
}

TEST_F(PieceMetadata, TokensOfOtherFilesAreAdded) {
  write("added_tokens.json", R"({"<a>": 521, "<b>": 522})");
  write("tokenizer_config.json",
        R"({"additional_special_tokens": ["<b>"], "added_tokens_decoder": {
            "0": {"content": "<unk>", "special": true},
            "1": {"content": "<bos>", "special": true},
            "523": {"content": "<c>", "special": false}}})");
  const auto file = open();
  const auto tokens = *file->find_strings("tokenizer.ggml.tokens");
  const auto types = *file->find_ints("tokenizer.ggml.token_type");
  ASSERT_EQ(tokens.size(), 524u);
  EXPECT_EQ(types[0], 2);
  EXPECT_EQ(tokens[1], "<bos>");
  EXPECT_EQ(types[1], 3);
  EXPECT_EQ(types[520], 5);
  EXPECT_EQ(tokens[521], "<a>");
  EXPECT_EQ(types[521], 4);
  EXPECT_EQ(types[522], 3);
  EXPECT_EQ(types[523], 4);
}

TEST_F(PieceMetadata, ErrorsNameTheFileAndTheEntry) {
  write("added_tokens.json", R"({"<a>": 1000000000000})");
  expect_refused(RC_E_FORMAT, "'<a>' as 1000000000000; 0 to 4194303");
  write("added_tokens.json", R"({"<a>": "x"})");
  expect_refused(RC_E_FORMAT, "added_tokens.json");
  std::filesystem::remove(path("added_tokens.json"));
  write("tokenizer_config.json",
        R"({"added_tokens_decoder": {"5x": {"content": "a"}}})");
  expect_refused(RC_E_FORMAT, "'5x'");
  std::filesystem::remove(path("tokenizer_config.json"));
  write("tokenizer.model", "IQ== 0\nIg== 1\n");
  expect_refused(RC_E_FORMAT, "tokenizer.model: ");
  // Only one vocabulary counts.
  write("tokenizer.json", "{}");
  EXPECT_EQ(open()->find("tokenizer.ggml.model"), nullptr);
}

}  // namespace
}  // namespace rc::folder
