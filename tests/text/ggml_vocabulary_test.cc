// The keys that convert writes of a tokenizer.json for other programs give the
// same ids.
#include "files/ggml/vocabulary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "test_data.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace rc::text {
namespace {

using Json = nlohmann::json;

Json recorded(const std::string& name) {
  std::ifstream in(test::source_path("tests/golden/tokenizers/json") /
                   (name + ".json"));
  return Json::parse(in);
}

std::shared_ptr<const gguf::File> to_file(const gguf::Writer& writer) {
  auto bytes = std::make_shared<std::vector<std::byte>>(writer.write_memory());
  const std::span<const std::byte> view = *bytes;
  return gguf::File::from_memory(std::move(bytes), view, "small.gguf");
}

std::shared_ptr<const gguf::File> with_keys(const Json& tokenizer) {
  gguf::Writer source;
  source.add("general.architecture", "llama");
  source.add("llama.vocab_size", uint32_t{640});
  source.add("tokenizer.huggingface.json", tokenizer.dump());
  const auto file = to_file(source);
  gguf::Writer writer;
  for (const gguf::Entry& entry : file->entries()) writer.add(entry);
  add_ggml_vocabulary(*file, writer);
  return to_file(writer);
}

class GgmlVocabulary
    : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(GgmlVocabulary, GivesTheSameIds) {
  const Json json = recorded(GetParam().first);
  const auto file = with_keys(json["tokenizer"]);
  EXPECT_EQ(file->get_string("tokenizer.ggml.pre"), GetParam().second);
  EXPECT_EQ(file->find_strings("tokenizer.ggml.tokens")->size(), 640u);
  // By the whole description where it is there.
  EXPECT_EQ(Tokenizer::load(*file)->kind(), "huggingface");
  const auto whole = Tokenizer::load(*file);
  const auto keys = Tokenizer::create(*read_vocabulary(*file));
  EXPECT_EQ(keys->kind(), "gpt2");
  ASSERT_GT(json["cases"].size(), 10u);
  for (const Json& item : json["cases"]) {
    const auto text = item["text"].get<std::string>();
    // U+05EF is no letter yet in the tables of the tokenizers package, which
    // its own description is read with.
    if (text.find("\xD7\xAF") != text.npos) continue;
    for (const bool special : {false, true}) {
      const TokenizeOptions options{.add_special = false,
                                    .parse_special = special};
      EXPECT_EQ(keys->tokenize(text, options), whole->tokenize(text, options))
          << item["text"];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, GgmlVocabulary,
    testing::Values(std::pair("gpt-2", "gpt-2"), std::pair("phi", "gpt-2"),
                    std::pair("llama-3", "llama-bpe"),
                    std::pair("qwen-2", "qwen2"),
                    std::pair("command-r", "command-r"),
                    std::pair("deepseek-v3", "deepseek-v3")),
    [](const auto& info) {
      std::string name = info.param.first;
      std::erase(name, '-');
      return name;
    });

// Vocabularies of other kinds, on texts where both agree: the package
// normalizes combining marks in another way than SentencePiece, by whose rules
// the keys are read, and searches for names of tokens by rules that keys do not
// express.
class GgmlPieces
    : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(GgmlPieces, GiveTheSameIds) {
  const Json json = recorded(GetParam().first);
  const auto file = with_keys(json["tokenizer"]);
  EXPECT_EQ(file->get_string("tokenizer.ggml.model"), GetParam().second);
  const auto whole = Tokenizer::load(*file);
  const auto keys = Tokenizer::create(*read_vocabulary(*file));
  EXPECT_EQ(keys->kind(), GetParam().second);
  int compared = 0;
  for (const Json& item : json["cases"]) {
    const auto text = item["text"].get<std::string>();
    const bool has_name = std::ranges::any_of(
        json["tokenizer"]["added_tokens"], [&](const Json& token) {
          return text.find(token["content"].get<std::string>()) != text.npos;
        });
    const bool has_marks = std::ranges::any_of(
        text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
    if (has_name || (keys->kind() != "llama" && has_marks)) continue;
    ++compared;
    EXPECT_EQ(keys->tokenize(text, {}), whole->tokenize(text, {}))
        << item["text"];
  }
  EXPECT_GT(compared, 10);
}

INSTANTIATE_TEST_SUITE_P(All, GgmlPieces,
                         testing::Values(std::pair("llama-2-pieces", "llama"),
                                         std::pair("gemma-pieces", "llama"),
                                         std::pair("t5", "t5"),
                                         std::pair("xlm-r-stripped", "t5"),
                                         std::pair("bert-uncased", "bert"),
                                         std::pair("bert-cased", "bert")),
                         [](const auto& info) {
                           std::string name = info.param.first;
                           std::erase(name, '-');
                           return name;
                         });

TEST(GgmlVocabularyKeys, ContainSpecialTokensAndTypes) {
  const auto bert = with_keys(recorded("bert-cased")["tokenizer"]);
  EXPECT_EQ(bert->find_int("tokenizer.ggml.bos_token_id"), 2);
  EXPECT_EQ(bert->find_int("tokenizer.ggml.cls_token_id"), 2);
  EXPECT_EQ(bert->find_int("tokenizer.ggml.seperator_token_id"), 3);
  EXPECT_EQ(bert->find_int("tokenizer.ggml.unknown_token_id"), 1);
  EXPECT_EQ(bert->find_bool("tokenizer.ggml.normalizer.lowercase"), false);
  const auto t5 = with_keys(recorded("t5")["tokenizer"]);
  EXPECT_EQ(t5->find_int("tokenizer.ggml.eos_token_id"), 1);
  EXPECT_EQ(t5->find_int("tokenizer.ggml.unknown_token_id"), 2);
  EXPECT_EQ(t5->find_bool("tokenizer.ggml.add_eos_token"), true);
  EXPECT_EQ(t5->find_bool("tokenizer.ggml.remove_extra_whitespaces"), true);
  EXPECT_FALSE(t5->find_bytes("tokenizer.ggml.precompiled_charsmap")->empty());
  const auto llama = with_keys(recorded("llama-2-pieces")["tokenizer"]);
  EXPECT_EQ(llama->find_int("tokenizer.ggml.bos_token_id"), 1);
  EXPECT_EQ(llama->find_bool("tokenizer.ggml.add_bos_token"), true);
  EXPECT_EQ(llama->find_bool("tokenizer.ggml.add_space_prefix"), true);
  const auto types = *llama->find_ints("tokenizer.ggml.token_type");
  EXPECT_EQ(types[0], 2);
  EXPECT_EQ(types[1], 3);
  EXPECT_EQ(types[3], 6);
  EXPECT_EQ(types[699], 1);
}

TEST(GgmlVocabularyKeys, AreMissingForOtherTokenizers) {
  for (const char* name :
       {"roberta", "nmt", "unigram-bytes", "llama-2", "bpe-prefix"}) {
    const auto file = with_keys(recorded(name)["tokenizer"]);
    EXPECT_EQ(file->find("tokenizer.ggml.model"), nullptr) << name;
  }
}

TEST(GgmlVocabularyKeys, AddBosFollowsThePostProcessor) {
  EXPECT_EQ(with_keys(recorded("llama-3")["tokenizer"])
                ->find_bool("tokenizer.ggml.add_bos_token"),
            true);
  EXPECT_EQ(with_keys(recorded("gpt-2")["tokenizer"])
                ->find_bool("tokenizer.ggml.add_bos_token"),
            false);
}

TEST(GgmlVocabularyKeys, AreMissingForInvalidDescriptions) {
  for (const char* patch :
       {R"({"added_tokens": [{"id": 99999999999, "content": "x"}]})",
        R"({"added_tokens": [{"id": -1, "content": "x"}]})",
        R"({"added_tokens": [{"content": "x"}]})",
        R"({"model": {"merges": ["a b c"]}})", R"({"model": {"merges": 3}})",
        R"({"model": null})", R"({"pre_tokenizer": 5})"}) {
    Json json = recorded("gpt-2")["tokenizer"];
    json.merge_patch(Json::parse(patch));
    EXPECT_EQ(with_keys(json)->find("tokenizer.ggml.model"), nullptr) << patch;
  }
}

}  // namespace
}  // namespace rc::text
