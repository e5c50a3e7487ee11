// Unigram models: steps that keys of GGUF have no word for, and differences.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "files/ggml/describe.h"

namespace rc::ggml {
namespace {

using test::changed;
using test::Json;

const Json& unigram_tokenizer() {
  static const Json kTokenizer = Json::parse(R"({
    "added_tokens": [{"id": 5, "content": "<x>", "special": true}],
    "normalizer": null,
    "pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581",
                      "prepend_scheme": "always", "split": true},
    "model": {"type": "Unigram", "unk_id": 0, "byte_fallback": false,
              "vocab": [["<unk>", 0], ["\u2581", -1.5], ["a", -2],
                        ["\u2581a", -2.5e0]]}})");
  return kTokenizer;
}

Description described_unigram(const test::Changes& changes) {
  return test::describe(describe_unigram,
                        changed(unigram_tokenizer(), changes));
}

const std::string kJoin =
    R"({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "})";
const std::string kStrip =
    R"({"type": "Strip", "strip_left": false, "strip_right": true})";
const std::string kMark =
    R"({"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always"})";
const std::string kRules =
    R"({"type": "Precompiled", "precompiled_charsmap": "AAEC"})";

std::string steps(const std::string& name,
                  const std::vector<std::string>& items) {
  std::string text = R"({"type": "Sequence", ")" + name + "\": [";
  for (size_t i = 0; i < items.size(); ++i) {
    text += (i == 0 ? "" : ", ") + items[i];
  }
  return text + "]}";
}

std::string replaced(std::string text, const std::string& from,
                     const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(GgmlUnigram, NamesNormalizerStepsWithoutKeys) {
  const auto normalizer = [](const std::vector<std::string>& items) {
    return test::Changes{{"/normalizer", steps("normalizers", items)}};
  };
  const char* replace = "its normalizer has the step 'Replace'";
  test::expect_cases(
      describe_unigram, unigram_tokenizer(),
      {
          {normalizer({}), ""},
          {normalizer({kRules, kStrip, kJoin}), ""},
          {normalizer({kRules, kRules}),
           "its normalizer has the step 'Precompiled'"},
          {normalizer({replaced(kRules, "AAEC", "AAE")}),
           "its rules are not base64"},
          {normalizer({replaced(kRules, "AAEC", "A!EC")}),
           "its rules are not base64"},
          {normalizer({replaced(kStrip, "true", "false")}),
           "its normalizer has the step 'Strip'"},
          {normalizer({R"({"type": "NFKC"})"}),
           "its normalizer has the step 'NFKC'"},
          {normalizer({"{}"}), "its normalizer has the step ''"},
          {normalizer({replaced(kJoin, "\": \" \"}", "\": \"\u2581\"}")}), ""},
          {normalizer({replaced(kJoin, "\": \" \"}", "\": \"_\"}")}), replace},
          {normalizer({replaced(kJoin, "{2,}", "{3,}")}), replace},
          {normalizer({replaced(kJoin, "Regex", "String")}), replace},
          {normalizer({R"({"type": "Replace", "content": " "})"}), replace},
          {normalizer({replaced(kJoin, "Replace", "Lowercase")}),
           "its normalizer has the step 'Lowercase'"},
      });
}

TEST(GgmlUnigram, NamesPreTokenizerStepsWithoutKeys) {
  const auto cutter = [](const std::vector<std::string>& items) {
    return test::Changes{{"/pre_tokenizer", steps("pretokenizers", items)}};
  };
  const std::string words = R"({"type": "WhitespaceSplit"})";
  const char* mark = "its pre-tokenizer has the step 'Metaspace'";
  test::expect_cases(describe_unigram, unigram_tokenizer(),
                     {
                         {cutter({kMark}), ""},
                         {cutter({words, kMark}), ""},
                         {cutter({kMark, words}),
                          "its pre-tokenizer has the step 'WhitespaceSplit'"},
                         {cutter({kMark, kMark}), mark},
                         {cutter({replaced(kMark, "\\u2581", "_")}), mark},
                         {cutter({R"({"type": "Whitespace"})", kMark}),
                          "its pre-tokenizer has the step 'Whitespace'"},
                         {cutter({words}), "it does not mark spaces"},
                         {cutter({}), "it does not mark spaces"},
                         {{{"/pre_tokenizer", ""}}, "it does not mark spaces"},
                     });
}

TEST(GgmlUnigram, NamesInvalidPieces) {
  const char* unknown = "it has no unknown token";
  const char* none = "a piece is not a text with a score";
  const char* cut = "its texts are cut at spaces, and '";
  test::expect_cases(
      describe_unigram, unigram_tokenizer(),
      {
          {{{"/model/byte_fallback", "true"}}, "it has tokens for bytes"},
          {{{"/model/byte_fallback", ""}}, ""},
          {{{"/model/vocab", ""}}, "it has no vocabulary"},
          {{{"/model/vocab/2", R"(["a"])"}}, none},
          {{{"/model/vocab/2", R"(["a", 1, 2])"}}, none},
          {{{"/model/vocab/2", R"("a")"}}, none},
          {{{"/model/vocab/2", R"(["", 1])"}}, "token 2 is ''"},
          {{{"/model/vocab/2/1", R"("x")"}}, "a score is 'x'"},
          {{{"/model/vocab/2/1", "null"}}, "a score is ''"},
          // Beyond a float's 3.4028235e38.
          {{{"/model/vocab/2/1", "3.5e38"}}, "a score is '3.5e+38'"},
          {{{"/model/vocab/2/1", "-3.5e38"}}, "a score is '-3.5e+38'"},
          {{{"/model/vocab/2/1", "3.4e38"}}, ""},
          {{{"/model/unk_id", ""}}, unknown},
          {{{"/model/unk_id", "null"}}, unknown},
          {{{"/model/unk_id", "-1"}}, unknown},
          {{{"/model/unk_id", "0.5"}}, unknown},
          {{{"/model/unk_id", "6"}}, unknown},
          {{{"/model/unk_id", "5"}}, ""},
          {{{"/model/vocab/2/0", R"("a\u2581")"}}, cut},
          {{{"/model/vocab/2/0", R"("\u2581\u2581")"}}, cut},
          {{{"/model/vocab/2/0", R"("a\u2581")"}, {"/pre_tokenizer/split", ""}},
           cut},
          {{{"/model/vocab/2/0", R"("a\u2581")"},
            {"/pre_tokenizer/split", "false"}},
           ""},
          {{{"/added_tokens/0/content", R"("a\u2581b")"}}, ""},
      });
}

TEST(GgmlUnigram, HasPiecesWithTheirScores) {
  const Description description = described_unigram({});
  EXPECT_EQ(description.model, "t5");
  EXPECT_EQ(description.tokens,
            (std::vector<std::string>{"<unk>", "\u2581", "a", "\u2581a",
                                      "[PAD4]", "<x>"}));
  EXPECT_EQ(description.scores, (std::vector<float>{0, -1.5, -2, -2.5, 0, 0}));
  EXPECT_EQ(description.types,
            (std::vector<TokenType>{TokenType::kUnknown, TokenType::kNormal,
                                    TokenType::kNormal, TokenType::kNormal,
                                    TokenType::kUnused, TokenType::kControl}));
  EXPECT_EQ(description.charsmap, "");
  EXPECT_EQ(described_unigram({{"/normalizer", kRules}}).charsmap,
            std::string("\0\1\2", 3));
}

// SentencePiece joins and strips spaces in one step, or does neither.
TEST(GgmlUnigram, WarnsWhereOtherProgramsFindOtherTokens) {
  const std::string rules =
      "characters with combining marks that the rules replace";
  const std::string first = "texts that begin with a space";
  const std::string last = "texts that end with a space";
  const std::string words =
      steps("pretokenizers", {R"({"type": "WhitespaceSplit"})", kMark});
  const test::Changes never = {{"/pre_tokenizer/prepend_scheme", R"("never")"}};
  const struct {
    test::Changes changes;
    bool prefix;
    bool joins;
    std::vector<std::string> differences;
  } cases[] = {
      {{}, true, false, {first}},
      {never, false, false, {}},
      {{{"/pre_tokenizer/prepend_scheme", R"("first")"}}, true, false, {first}},
      {{{"/normalizer", kStrip}}, true, false, {first}},
      {{{"/normalizer", kJoin}}, true, true, {last}},
      {{{"/normalizer", steps("normalizers", {kJoin, kStrip})}},
       true,
       true,
       {}},
      {{{"/pre_tokenizer", words}}, true, true, {}},
      {{{"/normalizer", kRules}}, true, false, {rules, first}},
      {{{"/normalizer", replaced(kRules, "AAEC", "")}}, true, false, {first}},
  };
  for (const auto& item : cases) {
    const Description description = described_unigram(item.changes);
    const std::string where =
        changed(unigram_tokenizer(), item.changes).dump().substr(0, 400);
    EXPECT_EQ(description.add_space_prefix, item.prefix) << where;
    EXPECT_EQ(description.remove_extra_whitespaces, item.joins) << where;
    EXPECT_EQ(description.differences, item.differences) << where;
  }
}

}  // namespace
}  // namespace rc::ggml
