// Bounds that are known before a text is tokenized, and stopping of the
// tokenizer.
#include <gtest/gtest.h>
#include <utf8proc.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "text/nfc.h"
#include "text_util.h"

namespace rc::text {
namespace {

std::vector<std::string> all_names() {
  std::vector<std::string> names = byte_level_names();
  for (const char* name :
       {"spm", "spm-no-prefix", "unigram", "unigram-plain", "wordpiece"}) {
    names.emplace_back(name);
  }
  return names;
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// Texts that come to few tokens: what is composed, dropped, or one token.
std::vector<std::string> dense_texts(const Tokenizer& tokenizer,
                                     const std::string& name) {
  std::ifstream in(
      test::source_path("tests/golden/tokenizers/" + name + ".json"));
  std::vector<std::string> texts = {
      "",
      std::string(200, ' '),
      std::string(200, '\n'),
      std::string(200, '\0'),
      repeated("\xE1\xBE\xBE\xCC\x88\xCC\x81", 60),  // becomes U+0390
      repeated("\xE1\xBF\xAF", 60),                  // becomes U+0060
      repeated("\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8", 60),
      repeated("\xFF\xFE", 60),
      repeated("\xF4\x8F\xBF\xBF", 60)};
  for (const auto& item : nlohmann::json::parse(in)) {
    texts.push_back(item["text"]);
  }
  for (TokenId id = 0; id < tokenizer.size(); ++id) {
    texts.emplace_back(tokenizer.token_text(id));
    texts.push_back(repeated(tokenizer.token_bytes(id, true), 20));
  }
  return texts;
}

class LeastTokens : public testing::TestWithParam<std::string> {};

TEST_P(LeastTokens, AreALowerBound) {
  const auto tokenizer = golden_tokenizer(GetParam());
  for (const std::string& text : dense_texts(*tokenizer, GetParam())) {
    for (const bool special : {false, true}) {
      const auto ids = tokenizer->tokenize(
          text, {.add_special = false, .parse_special = special});
      EXPECT_GE(ids.size(), tokenizer->least_tokens(text.size()))
          << text.size() << " bytes: " << text.substr(0, 40);
    }
  }
  // Tokenizers of generative models have a limit.
  if (tokenizer->kind() == "gpt2") {
    EXPECT_GT(tokenizer->least_tokens(1 << 20), 100u);
  }
}

TEST_P(LeastTokens, TokenizingCanBeStopped) {
  const auto tokenizer = golden_tokenizer(GetParam());
  // Words, and one that is a word as a whole.
  for (const std::string& text :
       {repeated("once upon a time, ", 20000), repeated("abc", 100000)}) {
    int asked = 0;
    TokenizeOptions options;
    options.should_stop = [&] {
      ++asked;
      return false;
    };
    const auto ids = tokenizer->tokenize(text, options);
    EXPECT_EQ(ids, tokenizer->tokenize(text, {}));
    EXPECT_GT(asked, 10);
    for (int last = 1; last < asked; last = last * 3 / 2 + 1) {
      int now = 0;
      options.should_stop = [&] { return ++now == last; };
      try {
        tokenizer->tokenize(text, options);
        ADD_FAILURE() << "went on";
      } catch (const Error& error) {
        EXPECT_EQ(error.status(), RC_E_CANCELLED);
      }
      EXPECT_EQ(now, last);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Tokenizers, LeastTokens,
                         testing::ValuesIn(all_names()), [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

// Where bytes, or parts of a text, may come to nothing, nothing is known.
TEST(LeastTokens, AreZeroIfTextMayBeDropped) {
  for (const Vocabulary& v :
       {sentencepiece_vocabulary(), unigram_vocabulary(),
        wordpiece_vocabulary(), byte_level_vocabulary()}) {
    EXPECT_EQ(Tokenizer::create(v)->least_tokens(1 << 20), 0u) << v.model;
  }
  Vocabulary v = byte_level_vocabulary();
  v.tokens.emplace_back("<unk>");
  v.types.push_back(TokenType::kUnknown);
  v.unknown = 5;
  // The longest, "<|end|>", has seven bytes.
  EXPECT_EQ(Tokenizer::create(v)->least_tokens(70), 10u);
  EXPECT_EQ(Tokenizer::create(v)->least_tokens(71), 11u);
}

// Checks the longest text that composition turns into each character.
// Byte-level tokenizers rely on a factor of 8 at most.
TEST(Composition, ShortensTextByLessThanEightTimes) {
  const auto decomposed = [](int32_t c) {
    std::vector<int32_t> parts(32);
    const auto count = utf8proc_decompose_char(
        c, parts.data(), static_cast<utf8proc_ssize_t>(parts.size()),
        UTF8PROC_DECOMPOSE, nullptr);
    parts.resize(static_cast<size_t>(std::max<utf8proc_ssize_t>(count, 0)));
    return parts;
  };
  const auto bytes_of = [](int32_t c) {
    std::array<utf8proc_uint8_t, 4> bytes;
    return static_cast<double>(utf8proc_encode_char(c, bytes.data()));
  };
  std::map<int32_t, double> longest;  // form of one that decomposes to it
  for (int32_t c = 0; c <= 0x10FFFF; ++c) {
    if (!utf8proc_codepoint_valid(c)) continue;
    const auto parts = decomposed(c);
    if (parts.size() != 1) continue;
    double& length = longest[parts[0]];
    length = std::max(length, bytes_of(c));
  }
  double worst = 0;
  for (int32_t c = 0; c <= 0x10FFFF; ++c) {
    if (!utf8proc_codepoint_valid(c)) continue;
    double length = 0;
    for (const int32_t part : decomposed(c)) length += longest[part];
    std::array<utf8proc_uint8_t, 4> bytes;
    const auto size = utf8proc_encode_char(c, bytes.data());
    const std::string own(reinterpret_cast<const char*>(bytes.data()),
                          static_cast<size_t>(size));
    worst =
        std::max(worst, length / static_cast<double>(compose_nfc(own).size()));
  }
  EXPECT_GE(worst, 3.5);
  EXPECT_LE(worst, 8);
}

}  // namespace
}  // namespace rc::text
