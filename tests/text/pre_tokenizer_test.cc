// The names of tokenizer.ggml.pre that no golden vocabulary uses.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "test_data.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace rc::text {
namespace {

using Json = nlohmann::json;

TEST(PreTokenizerNames, SplitLikeTheModels) {
  const auto folder = test::source_path("tests/golden/tokenizers");
  std::ifstream in(folder / "pre_names.json");
  const Json json = Json::parse(in);
  const auto file = gguf::File::open((folder / "bpe-gpt-2.gguf").string());
  Vocabulary vocabulary = *read_vocabulary(*file);
  ASSERT_GT(json["texts"].size(), 50u);
  ASSERT_GT(json["entries"].size(), 20u);
  for (const Json& entry : json["entries"]) {
    for (const Json& name : entry["names"]) {
      SCOPED_TRACE(name);
      vocabulary.pre = name.get<std::string>();
      const auto tokenizer = Tokenizer::create(vocabulary);
      for (size_t i = 0; i < json["texts"].size(); ++i) {
        const auto text = json["texts"][i].get<std::string>();
        EXPECT_EQ(Json(tokenizer->tokenize(text, {.add_special = false})),
                  entry["ids"][i])
            << json["texts"][i];
      }
    }
  }
}

// Looking for the end of a run of digits at each of them would take hours.
TEST(PreTokenizerNames, LongNumbersAreSplitInLinearTime) {
  const auto folder = test::source_path("tests/golden/tokenizers");
  const auto file = gguf::File::open((folder / "bpe-gpt-2.gguf").string());
  Vocabulary vocabulary = *read_vocabulary(*file);
  for (const char* name : {"afmoe", "tiny_aya"}) {
    vocabulary.pre = name;
    const auto tokenizer = Tokenizer::create(vocabulary);
    const std::string digits(size_t{1} << 20, '7');
    const TokenizeOptions options{.add_special = false};
    const auto ids = tokenizer->tokenize(digits, options);
    // 2^20 is one more than a multiple of three.
    EXPECT_EQ(std::vector(ids.begin(), ids.begin() + 1),
              tokenizer->tokenize("7", options));
    EXPECT_GT(tokenizer->tokenize(digits + "x", options).size(), 1u);
  }
}

}  // namespace
}  // namespace rc::text
