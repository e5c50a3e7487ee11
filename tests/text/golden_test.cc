// Ids recorded from the reference implementations of each kind.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "test_data.h"
#include "text/stream_decoder.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace rc::text {
namespace {

std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::shared_ptr<const Tokenizer> load(const std::filesystem::path& path) {
  return Tokenizer::load(*gguf::File::open(path.string()));
}

std::string replace_all(std::string text, const std::string& what,
                        const std::string& by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos;
       at += by.size()) {
    text.replace(at, what.size(), by);
  }
  return text;
}

std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(
           test::source_path("tests/golden/tokenizers"))) {
    if (entry.path().extension() == ".gguf") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, IdsAndTextMatchTheReference) {
  const auto folder = test::source_path("tests/golden/tokenizers");
  const auto tokenizer = load(folder / (GetParam() + ".gguf"));
  ASSERT_NE(tokenizer, nullptr);
  const auto cases =
      nlohmann::json::parse(read_text(folder / (GetParam() + ".json")));
  ASSERT_GT(cases.size(), 50u);
  const bool is_sentencepiece =
      tokenizer->kind() == "llama" || tokenizer->kind() == "t5";
  for (const auto& item : cases) {
    const std::string text = item["text"];
    const std::vector<TokenId> ids = item["ids"];
    EXPECT_EQ(tokenizer->tokenize(
                  text, {.add_special = false,
                         .parse_special = item.value("parse_special", true)}),
              ids)
        << item;
    std::string decoded = tokenizer->detokenize(ids, true);
    if (is_sentencepiece &&
        std::count(ids.begin(), ids.end(), tokenizer->unknown()) > 0) {
      decoded = replace_all(
          decoded, std::string(tokenizer->token_text(tokenizer->unknown())),
          " \xE2\x81\x87 ");
    }
    EXPECT_EQ(decoded, item["decoded"].get<std::string>()) << item;

    StreamDecoder stream(tokenizer, {.special = true});
    std::string streamed;
    for (const TokenId id : ids) streamed += stream.push(id);
    streamed += stream.finish();
    EXPECT_EQ(streamed, tokenizer->detokenize(ids, true)) << item;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Golden, testing::ValuesIn(golden_names()),
                         [](const auto& info) {
                           return replace_all(info.param, "-", "_");
                         });

// Sarvam's files call it a tokenizer of bytes, have no types for bytes and say
// nothing of a first token.
TEST(WholeText, IsSelectedByThePreTokenizerName) {
  const auto folder = test::source_path("tests/golden/tokenizers");
  auto vocabulary =
      read_vocabulary(*gguf::File::open((folder / "whole-text.gguf").string()));
  ASSERT_TRUE(vocabulary);
  vocabulary->model = "gpt2";
  vocabulary->pre = "sarvam-moe";
  vocabulary->add_bos.reset();
  for (TokenType& type : vocabulary->types) {
    if (type == TokenType::kByte) type = TokenType::kNormal;
  }
  const auto tokenizer = Tokenizer::create(*std::move(vocabulary));
  const auto cases =
      nlohmann::json::parse(read_text(folder / "whole-text.json"));
  ASSERT_GT(cases.size(), 50u);
  for (const auto& item : cases) {
    const bool special = item.value("parse_special", true);
    const std::vector<TokenId> ids = item["ids"];
    EXPECT_EQ(tokenizer->tokenize(item["text"].get<std::string>(),
                                  {.parse_special = special}),
              ids)
        << item;
    EXPECT_EQ(tokenizer->detokenize(ids, true),
              item["decoded"].get<std::string>())
        << item;
  }
}

TEST(BuiltinModel, IdsMatchTokenizers) {
  const auto tokenizer = load(test::source_path("examples/model/fable.gguf"));
  const auto json = nlohmann::json::parse(
      read_text(test::source_path("tests/golden/fable/fable.json")));
  ASSERT_FALSE(json.at("texts").empty());
  for (const auto& item : json.at("texts")) {
    const std::string text = item.at("text");
    const std::vector<TokenId> ids = item.at("ids");
    EXPECT_EQ(tokenizer->tokenize(text, {.add_special = false}), ids) << text;
    EXPECT_EQ(tokenizer->detokenize(ids, true), text);
  }
}

// The vocabularies of published models, with the ids that their own tokenizers
// give.
class Published : public testing::TestWithParam<std::string> {};

TEST_P(Published, IdsMatchTheTokenizerOfTheModel) {
  const auto file =
      test::shared_path("vocab/ggml-vocab-" + GetParam() + ".gguf");
  RC_NEED_SHARED(file);
  const auto tokenizer = load(file);
  ASSERT_NE(tokenizer, nullptr);
  std::string texts = read_text(file.string() + ".inp");
  std::istringstream expected(read_text(file.string() + ".out"));
  const std::string separator = "\n__ggml_vocab_test__\n";
  int count = 0;
  for (size_t begin = 0; begin <= texts.size(); ++count) {
    const size_t end = std::min(texts.find(separator, begin), texts.size());
    const std::string text = texts.substr(begin, end - begin);
    begin = end + separator.size();
    if (end == texts.size()) begin = texts.size() + 1;
    std::string line;
    std::getline(expected, line);
    std::istringstream numbers(line);
    const std::vector<TokenId> ids{std::istream_iterator<TokenId>(numbers),
                                   std::istream_iterator<TokenId>()};
    const auto got = tokenizer->tokenize(text, {.add_special = false});
    EXPECT_EQ(got, ids) << text;
    if (tokenizer->kind() != "bert") {
      EXPECT_EQ(tokenizer->detokenize(got), text);
    }
  }
  EXPECT_EQ(count, 47);
}

INSTANTIATE_TEST_SUITE_P(All, Published,
                         testing::Values("bert-bge", "falcon", "gpt-2",
                                         "llama-bpe", "llama-spm", "phi-3",
                                         "qwen2", "starcoder"),
                         [](const auto& info) {
                           return replace_all(info.param, "-", "_");
                         });

}  // namespace
}  // namespace rc::text
