// WordPiece: the parts of BERT's that keys of GGUF have no word for.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "files/ggml/describe.h"

namespace rc::ggml {
namespace {

using test::changed;
using test::Json;

const Json& wordpiece_tokenizer() {
  static const Json kTokenizer = Json::parse(R"({
    "added_tokens": [{"id": 0, "content": "[UNK]", "special": true},
                     {"id": 1, "content": "[NEW]", "special": false}],
    "normalizer": {"type": "BertNormalizer", "clean_text": true,
                   "handle_chinese_chars": true, "strip_accents": null,
                   "lowercase": true},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "model": {"type": "WordPiece", "unk_token": "[UNK]",
              "continuing_subword_prefix": "##",
              "vocab": {"[UNK]": 0, "[NEW]": 1, "a": 2, "##a": 3, "#": 4,
                        "##": 5, "###": 6, "##b\u2581": 7, "##\u2581": 8}}})");
  return kTokenizer;
}

Description described_wordpiece(const test::Changes& changes) {
  return test::describe(describe_wordpiece,
                        changed(wordpiece_tokenizer(), changes));
}

TEST(GgmlWordpiece, NamesPartsWithoutKeys) {
  const char* normalizer = "its normalizer is not that of BERT";
  const char* cutter = "its pre-tokenizer is not that of BERT";
  const char* mark = "its pieces go on with another mark than '##'";
  const char* unknown = "it has no unknown token";
  test::expect_cases(
      describe_wordpiece, wordpiece_tokenizer(),
      {
          {{}, ""},
          {{{"/normalizer", ""}}, normalizer},
          {{{"/normalizer", "null"}}, normalizer},
          {{{"/normalizer/type", R"("Lowercase")"}}, normalizer},
          {{{"/normalizer/clean_text", "false"}}, normalizer},
          {{{"/normalizer/clean_text", ""}}, ""},
          {{{"/normalizer/clean_text", "null"}}, ""},
          {{{"/normalizer/handle_chinese_chars", "false"}}, normalizer},
          {{{"/normalizer/handle_chinese_chars", ""}}, ""},
          {{{"/pre_tokenizer", ""}}, cutter},
          {{{"/pre_tokenizer", "null"}}, cutter},
          {{{"/pre_tokenizer/type", R"("Whitespace")"}}, cutter},
          {{{"/model/continuing_subword_prefix", R"("@@")"}}, mark},
          {{{"/model/continuing_subword_prefix", R"("")"}}, mark},
          {{{"/model/continuing_subword_prefix", ""}}, mark},
          {{{"/model/vocab", ""}}, "it has no vocabulary"},
          {{{"/model/unk_token", ""}}, unknown},
          {{{"/model/unk_token", R"("[unk]")"}}, unknown},
          {{{"/model/unk_token", R"("a")"}}, ""},
          {{{"/model/vocab/a", R"("2")"}}, "token -1 is 'a'"},
          {{{"/model/vocab/a", "2.5"}}, "token -1 is 'a'"},
          {{{"/model/vocab/a", "-1"}}, "token -1 is 'a'"},
      });
}

TEST(GgmlWordpiece, MarksPiecesThatBeginWords) {
  const Description description = described_wordpiece({});
  EXPECT_EQ(description.model, "bert");
  EXPECT_EQ(description.tokens, (std::vector<std::string>{
                                    "[UNK]", "[NEW]", "\u2581a", "a", "\u2581#",
                                    "\u2581##", "#", "b\u2581", "##\u2581"}));
  EXPECT_EQ(
      description.types,
      (std::vector<TokenType>{
          TokenType::kControl, TokenType::kUserDefined, TokenType::kNormal,
          TokenType::kNormal, TokenType::kNormal, TokenType::kNormal,
          TokenType::kNormal, TokenType::kNormal, TokenType::kUnused}));
  EXPECT_EQ(description.unknown, 0);
  EXPECT_EQ(description.differences,
            std::vector<std::string>{"words with U+2581 within"});
  EXPECT_TRUE(
      described_wordpiece({{"/model/vocab/##\u2581", ""}}).differences.empty());
}

// BertNormalizer strips accents where it lowers letters, unless a flag says
// otherwise; it lowers them by default.
TEST(GgmlWordpiece, StripsAccentsByTheFlagOrWithCase) {
  const struct {
    const char* lowercase;
    const char* strip_accents;
    bool lowers;
    bool strips;
  } cases[] = {
      {"true", "null", true, true},     {"false", "null", false, false},
      {"true", "false", true, false},   {"false", "true", false, true},
      {"null", "null", true, true},     {"null", "false", true, false},
      {"false", "false", false, false}, {"true", "true", true, true},
  };
  for (const auto& item : cases) {
    const Description description = described_wordpiece(
        {{"/normalizer/lowercase", item.lowercase},
         {"/normalizer/strip_accents", item.strip_accents}});
    EXPECT_EQ(description.lowercase, item.lowers) << item.lowercase;
    EXPECT_EQ(description.strip_accents, item.strips)
        << item.lowercase << " " << item.strip_accents;
  }
}

}  // namespace
}  // namespace rc::ggml
