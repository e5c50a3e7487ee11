// Tokens of texts of which strangers wrote a part, and the places of tokens.
#include <gtest/gtest.h>

#include <algorithm>

#include <string>
#include <vector>

#include "text/text_util.h"

namespace rc::text {
namespace {

std::vector<TokenId> tokens_of(const Tokenizer& tokenizer,
                               const std::string& text,
                               std::vector<Span> content,
                               std::vector<TokenId> marks = {}) {
  TokenizeOptions options;
  options.add_special = false;
  options.parse_special = true;
  options.content = content;
  options.marks = marks;
  return tokenizer.tokenize(text, options);
}

// a 0, b 1, ab 2, space 3, <|end|> 4.
TEST(Content, ControlTokensAreNotReadFromContent) {
  Vocabulary v = byte_level_vocabulary();
  for (const char c : std::string("<|end>")) v.tokens.emplace_back(1, c);
  v.types.resize(v.tokens.size(), TokenType::kNormal);
  const auto tokenizer = Tokenizer::create(std::move(v));
  using Ids = std::vector<TokenId>;
  EXPECT_EQ(tokens_of(*tokenizer, "a<|end|>b", {}), (Ids{0, 4, 1}));
  const size_t name = 7;
  for (size_t begin = 0; begin < name; ++begin) {
    for (size_t end = begin + 1; end <= name; ++end) {
      const auto ids =
          tokens_of(*tokenizer, "a<|end|>b", {{1 + begin, 1 + end}});
      EXPECT_EQ(ids.size(), 9u) << begin << " to " << end;
      EXPECT_EQ(tokenizer->detokenize(ids), "a<|end|>b");
    }
  }
  // Next to a name it does no harm, and words continue across its borders.
  EXPECT_EQ(tokens_of(*tokenizer, "a<|end|>b", {{0, 1}, {8, 9}}),
            (Ids{0, 4, 1}));
  EXPECT_EQ(tokens_of(*tokenizer, "ab<|end|>", {{1, 2}}), (Ids{2, 4}));
}

TEST(Content, UserDefinedTokensAreReadUnlessTheyAreMarks) {
  const auto tokenizer = Tokenizer::create(sentencepiece_vocabulary());
  const TokenId user = 7;
  const auto has = [&](std::vector<Span> content, std::vector<TokenId> marks) {
    const auto ids = tokens_of(*tokenizer, "a<user>b", content, marks);
    return std::count(ids.begin(), ids.end(), user) > 0;
  };
  EXPECT_TRUE(has({}, {}));
  EXPECT_TRUE(has({{0, 8}}, {}));
  EXPECT_TRUE(has({}, {user}));
  EXPECT_TRUE(has({{0, 1}}, {user}));
  EXPECT_FALSE(has({{0, 8}}, {user}));
  EXPECT_FALSE(has({{6, 8}}, {user}));
}

// The places follow each other and are what the tokens stand for.
TEST(Places, CoverTheTextOfTheTokens) {
  for (const std::string& name : byte_level_names()) {
    const auto tokenizer = golden_tokenizer(name);
    const std::string text = "Hello <|im_start|>Grüße, 世界! 12\n\n<tool> x";
    TokenizeOptions options;
    options.add_special = false;
    options.parse_special = true;
    std::vector<Span> places;
    const auto tokens = tokenizer->tokenize(text, options, &places);
    ASSERT_EQ(places.size(), tokens.size()) << name;
    size_t at = 0;
    for (size_t i = 0; i < tokens.size(); ++i) {
      EXPECT_EQ(places[i].begin, at) << name;
      at = places[i].end;
      EXPECT_EQ(tokenizer->token_bytes(tokens[i], true),
                text.substr(places[i].begin, at - places[i].begin))
          << name;
    }
    EXPECT_EQ(at, text.size()) << name;
  }
}

TEST(Places, ExcludeTheLeadingSpace) {
  const auto tokenizer = golden_tokenizer("spm");
  for (const std::string text : {"the fox", " the fox", "  x", "x "}) {
    std::vector<Span> places;
    const auto tokens =
        tokenizer->tokenize(text, {.add_special = false}, &places);
    ASSERT_EQ(places.size(), tokens.size());
    EXPECT_EQ(places.front().begin, 0u);
    EXPECT_EQ(places.back().end, text.size());
  }
}

// Where normalisation changes the text, every token has all of the part.
TEST(Places, CoverTheWholePartIfTheTextIsNormalized) {
  const auto tokenizer = golden_tokenizer("wordpiece");
  const std::string text = "The Fox";
  std::vector<Span> places;
  const auto tokens =
      tokenizer->tokenize(text, {.add_special = false}, &places);
  ASSERT_EQ(places.size(), tokens.size());
  for (const Span& place : places) {
    EXPECT_EQ(place, (Span{0, text.size()}));
  }
}

}  // namespace
}  // namespace rc::text
