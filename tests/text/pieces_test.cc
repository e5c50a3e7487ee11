// Folders with a tokenizer.model: ids are those of the sentencepiece package.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "files/convert.h"
#include "files/open_model.h"
#include "temporary.h"
#include "test_data.h"
#include "text/tokenizer.h"

namespace rc::text {
namespace {

namespace fs = std::filesystem;

class Pieces : public testing::TestWithParam<std::string> {
 protected:
  Pieces() {
    fs::copy(test::source_path("tests/golden/folders/llama"), folder_);
    fs::copy(golden(".model"), folder_ / "tokenizer.model");
  }
  static fs::path golden(const std::string& ending) {
    return test::source_path("tests/golden/tokenizers/pieces") /
           (GetParam() + ending);
  }
  static void expect_golden(const gguf::File& file) {
    const auto tokenizer = Tokenizer::load(file);
    ASSERT_NE(tokenizer, nullptr);
    std::ifstream in(golden(".json"));
    const auto cases = nlohmann::json::parse(in);
    ASSERT_GT(cases.size(), 100u);
    for (const auto& item : cases) {
      EXPECT_EQ(tokenizer->tokenize(item["text"].get<std::string>(),
                                    {.add_special = false}),
                item["ids"].get<std::vector<TokenId>>())
          << item;
    }
  }

  test::TemporaryFolder temporary_;
  fs::path folder_ = temporary_.path() / "model";
};

TEST_P(Pieces, IdsMatchSentencePiece) {
  const auto folder = open_model(folder_.string());
  expect_golden(*folder);
  const fs::path file = temporary_.path() / "model.gguf";
  convert_model(*folder, file.string(), {});
  expect_golden(*gguf::File::open(file.string()));
}

INSTANTIATE_TEST_SUITE_P(All, Pieces,
                         testing::Values("bpe", "bpe-no-prefix", "bpe-prefix",
                                         "unigram-plain", "unigram-rules"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace rc::text
