// tokenizer.json: what the tokenizers package gives, and files that lie.
#include "text/tokenizer_json/json_tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/utf8.h"
#include "test_data.h"
#include "text/json_tokenizer_util.h"
#include "text/stream_decoder.h"

namespace rc::text {
namespace {

OrderedJson recorded_in_order(const std::string& name) {
  std::ifstream in(
      test::source_path("tests/golden/tokenizers/json/" + name + ".json"));
  return OrderedJson::parse(in);
}

std::vector<std::string> recorded_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(
           test::source_path("tests/golden/tokenizers/json"))) {
    names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class RecordedJson : public testing::TestWithParam<std::string> {};

TEST_P(RecordedJson, IdsAndTextMatchThePackageTokenizers) {
  const OrderedJson file = recorded_in_order(GetParam());
  const auto tokenizer = tokenizer_of(file["tokenizer"]);
  EXPECT_EQ(tokenizer->kind(), "huggingface");
  ASSERT_GT(file["cases"].size(), 50u);
  for (const OrderedJson& item : file["cases"]) {
    const auto text = item["text"].get<std::string>();
    std::vector<Span> places;
    const auto ids = tokenizer->tokenize(text, {.parse_special = true});
    EXPECT_EQ(ids, item["ids"].get<std::vector<TokenId>>()) << item;
    const auto plain = tokenizer->tokenize(
        text, {.add_special = false, .parse_special = true}, &places);
    EXPECT_EQ(plain.size(), places.size());
    EXPECT_GE(plain.size(), tokenizer->least_tokens(text.size()));
    EXPECT_EQ(valid_utf8(tokenizer->detokenize(ids)), item["decoded"]) << item;
    EXPECT_EQ(valid_utf8(tokenizer->detokenize(ids, true)), item["shown"])
        << item;
    StreamDecoder stream(tokenizer, {.special = true});
    std::string streamed;
    for (const TokenId id : ids) streamed += stream.push(id);
    streamed += stream.finish();
    EXPECT_EQ(streamed, item["shown"]) << item;
  }
}

// Texts that come to few tokens: each token again and again, and what is
// composed, marked or left out.
TEST_P(RecordedJson, LeastTokensAreALowerBound) {
  const auto tokenizer =
      tokenizer_of(recorded_in_order(GetParam())["tokenizer"]);
  const auto repeated = [](const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
  };
  std::vector<std::string> texts = {
      std::string(300, ' '),
      std::string(300, '\0'),
      repeated("\xE2\x96\x81", 100),
      repeated("\xE1\xBE\xBE\xCC\x88\xCC\x81", 60),
      repeated("\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8", 60),
      repeated("\xFF\xFE", 60)};
  for (TokenId id = 0; id < tokenizer->size(); ++id) {
    texts.push_back(repeated(std::string(tokenizer->token_text(id)), 20));
    texts.push_back(repeated(tokenizer->token_bytes(id, true), 20));
  }
  for (const std::string& text : texts) {
    for (const bool special : {false, true}) {
      const auto ids = tokenizer->tokenize(
          text, {.add_special = false, .parse_special = special});
      EXPECT_GE(ids.size(), tokenizer->least_tokens(text.size()))
          << text.size() << " bytes: " << text.substr(0, 40);
    }
  }
  // Generative models of today have a limit.
  for (const char* name : {"gpt-2", "llama-3", "qwen-2", "deepseek-v3",
                           "command-r", "llama-2", "gemma", "phi"}) {
    if (GetParam() != name) continue;
    EXPECT_GT(tokenizer->least_tokens(1 << 20), 100u);
  }
}

INSTANTIATE_TEST_SUITE_P(All, RecordedJson, testing::ValuesIn(recorded_names()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(JsonTokenizer, ContentIsNeverASpecialToken) {
  const auto tokenizer =
      tokenizer_of(recorded_in_order("llama-3")["tokenizer"]);
  const std::string text = "<|im_start|>a<|im_start|>b<tool>";
  const auto count = [&](const TokenizeOptions& options) {
    const auto ids = tokenizer->tokenize(text, options);
    return std::count_if(ids.begin(), ids.end(), [&](TokenId id) {
      return tokenizer->token_type(id) == TokenType::kControl;
    });
  };
  const Span content{13, 26};  // the second name but its first byte
  EXPECT_EQ(count({.add_special = false, .parse_special = true}), 2);
  EXPECT_EQ(count({.add_special = false,
                   .parse_special = true,
                   .content = {&content, 1}}),
            1);
  EXPECT_EQ(count({.add_special = false}), 0);
  EXPECT_EQ(count({.parse_special = true}), 3);
}

TEST(JsonTokenizer, InvalidUtf8IsKept) {
  const auto tokenizer =
      tokenizer_of(recorded_in_order("llama-3")["tokenizer"]);
  const std::string text = "a\xFF\xC3 b\xE2\x82";
  EXPECT_EQ(
      tokenizer->detokenize(tokenizer->tokenize(text, {.add_special = false})),
      text);
}

TEST(JsonTokenizer, StopsWhenAsked) {
  const auto tokenizer =
      tokenizer_of(recorded_in_order("llama-3")["tokenizer"]);
  EXPECT_THROW(tokenizer->tokenize(std::string(100'000, 'a'),
                                   {.should_stop = [] { return true; }}),
               Error);
}

// The message with which a spoilt tokenizer.json is refused, or "".
std::string message_of(const OrderedJson& json) {
  try {
    tokenizer_of(json);
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

std::string refusal(const std::string& pointer, const OrderedJson& value) {
  OrderedJson json = recorded_in_order("llama-3")["tokenizer"];
  json[OrderedJson::json_pointer(pointer)] = value;
  return message_of(json);
}

TEST(JsonTokenizer, RefusalsNameFilePointerAndValue) {
  const std::string file = "small.gguf: tokenizer.huggingface.json: ";
  EXPECT_EQ(refusal("/model/dropout", 0.5),
            file +
                "/model/dropout is '0.5'; with it texts have other tokens each "
                "time: it must be null");
  EXPECT_EQ(refusal("/model/ignore_merges", 3),
            file +
                "/model/ignore_merges is a number; it must be true or "
                "false");
  EXPECT_EQ(
      refusal("/normalizer", {{"type", "Rot13"}})
          .find(file + "/normalizer/type is 'Rot13'; known normalizers are "),
      0u);
  EXPECT_EQ(
      refusal("/pre_tokenizer/pretokenizers/0/pattern/Regex", "(a")
          .find(file + "/pre_tokenizer/pretokenizers/0/pattern/Regex is the "
                       "pattern '(a', which PCRE2 does not take: "),
      0u);
  EXPECT_EQ(refusal("/model/merges/0", "no token")
                .find(file + "/model/merges has an element 0 of 'no' and "
                             "'token'; "),
            0u);
  // Without it the vocabulary has a token less than its highest id says.
  OrderedJson json = recorded_in_order("llama-2")["tokenizer"];
  json["model"]["vocab"].erase("</s>");
  const size_t count = json["model"]["vocab"].size();
  std::string last;
  for (const auto& [text, id] : json["model"]["vocab"].items()) {
    if (id == count) last = text;
  }
  EXPECT_EQ(message_of(json),
            file +
                "/added_tokens/2/content is '</s>', which is not in the "
                "vocabulary; it gets the id " +
                std::to_string(count) + ", but that is '" + last +
                "' in the vocabulary, whose " + std::to_string(count) +
                " tokens should have the ids from 0 on");
  OrderedJson deep;
  for (int i = 0; i < 40; ++i) deep = OrderedJson::array({deep});
  EXPECT_NE(refusal("/truncation", deep).find("nest deeper"),
            std::string::npos);
}

}  // namespace
}  // namespace rc::text
