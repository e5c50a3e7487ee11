// Merges of bytes: the cuts that have a name, and those that have none.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "files/ggml/describe.h"
#include "test_data.h"

namespace rc::ggml {
namespace {

using test::changed;
using test::Json;

const Json& byte_level_tokenizer() {
  static const Json kTokenizer = Json::parse(R"({
    "added_tokens": [{"id": 4, "content": "<|end|>", "special": true}],
    "normalizer": null,
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false,
                      "use_regex": true},
    "model": {"type": "BPE", "dropout": null, "unk_token": null,
              "ignore_merges": false,
              "vocab": {"a": 0, "b": 1, "ab": 2},
              "merges": [["a", "b"]]}})");
  return kTokenizer;
}

// The cut of Llama 3: a pattern, then bytes.
Json with_split() {
  std::ifstream in(
      rc::test::source_path("tests/golden/tokenizers/json/llama-3.json"));
  Json json = byte_level_tokenizer();
  json["pre_tokenizer"] = Json::parse(in)["tokenizer"]["pre_tokenizer"];
  json["model"]["ignore_merges"] = true;
  return json;
}

constexpr const char* kNoName = "its pre-tokenizer has no name";
const std::string kBytes =
    R"({"type": "ByteLevel", "add_prefix_space": false})";
const std::string kDigits = R"({"type": "Digits", "individual_digits": true})";
const std::string kNfc = R"({"type": "NFC"})";

std::string cutter(const std::vector<std::string>& steps) {
  std::string text = R"({"type": "Sequence", "pretokenizers": [)";
  for (size_t i = 0; i < steps.size(); ++i) {
    text += (i == 0 ? "" : ", ") + steps[i];
  }
  return text + "]}";
}

TEST(GgmlByteLevel, NamesPartsWithoutKeys) {
  const char* nfc = "its normalizer is another than NFC";
  test::expect_cases(
      describe_byte_level, byte_level_tokenizer(),
      {
          {{}, ""},
          {{{"/model/unk_token", R"("<unk>")"}},
           "its pairs of bytes have a unk_token"},
          {{{"/model/unk_token", ""}}, ""},
          {{{"/model/continuing_subword_prefix", R"("##")"}},
           "its pairs of bytes have a continuing_subword_prefix"},
          {{{"/model/end_of_word_suffix", R"("</w>")"}},
           "its pairs of bytes have a end_of_word_suffix"},
          {{{"/model/end_of_word_suffix", R"("")"}}, ""},
          {{{"/model/dropout", "0.5"}}, "it leaves out merges by chance"},
          {{{"/model/dropout", ""}}, ""},
          {{{"/normalizer", R"({"type": "NFKC"})"}}, nfc},
          {{{"/normalizer", R"({"type": "Sequence", "normalizers": []})"}},
           nfc},
          {{{"/normalizer", R"({"type": "Sequence", "normalizers":
                                [{"type": "NFC"}, {"type": "NFC"}]})"}},
           nfc},
          {{{"/normalizer", R"({"type": "Sequence", "normalizers":
                                [{"type": "NFC"}]})"}},
           ""},
          {{{"/model/vocab", ""}}, "it has no vocabulary"},
          {{{"/model/merges", ""}}, "it has no merges"},
          {{{"/model/merges", "[]"}}, "it has no merges"},
          {{{"/model/merges", R"(["ab"])"}}, "a merge is 'ab' and ''"},
          {{{"/model/merges", R"(["a b"])"}}, ""},
      });
}

TEST(GgmlByteLevel, ReportsPreTokenizersWithoutAName) {
  test::expect_cases(
      describe_byte_level, byte_level_tokenizer(),
      {
          {{{"/pre_tokenizer", "null"}}, kNoName},
          {{{"/pre_tokenizer", ""}}, kNoName},
          {{{"/pre_tokenizer/add_prefix_space", "true"}}, kNoName},
          {{{"/pre_tokenizer/use_regex", "false"}}, kNoName},
          {{{"/pre_tokenizer/use_regex", ""}}, ""},
          {{{"/pre_tokenizer/type", R"("Whitespace")"}}, kNoName},
          {{{"/model/ignore_merges", "true"}}, kNoName},
          {{{"/pre_tokenizer", cutter({})}}, kNoName},
          {{{"/pre_tokenizer", cutter({kDigits})}}, kNoName},
          {{{"/pre_tokenizer", cutter({kBytes, kBytes})}}, kNoName},
          {{{"/pre_tokenizer", cutter({kBytes, kDigits})}}, kNoName},
          {{{"/pre_tokenizer", cutter({kDigits, kDigits, kBytes})}}, kNoName},
          {{{"/pre_tokenizer",
             cutter({R"({"type": "Digits", "individual_digits": false})",
                     kBytes})}},
           kNoName},
          {{{"/pre_tokenizer", cutter({kDigits, kBytes})}}, ""},
      });
}

TEST(GgmlByteLevel, ReportsSplitsWithoutAName) {
  const std::string split = "/pre_tokenizer/pretokenizers/0";
  const auto behavior = [&](const char* name, const char* invert) {
    return test::Changes{{split + "/behavior", name},
                         {split + "/invert", invert}};
  };
  test::expect_cases(
      describe_byte_level, with_split(),
      {
          {{}, ""},
          // Matches are the pieces either way.
          {behavior(R"("Removed")", "true"), ""},
          {behavior(R"("Removed")", "false"), kNoName},
          {behavior(R"("Isolated")", "true"), kNoName},
          {behavior(R"("MergedWithNext")", "false"), kNoName},
          {behavior(R"("Contiguous")", "true"), kNoName},
          {{{split + "/invert", ""}}, ""},
          {{{split + "/pattern", ""}}, kNoName},
          {{{split + "/pattern/Regex", R"("\\d")"}}, kNoName},
          {{{split + "/pattern", R"({"String": "a"})"}}, kNoName},
          {{{split + "/type", R"("Metaspace")"}}, kNoName},
          {{{"/pre_tokenizer/pretokenizers/1/use_regex", "true"}}, kNoName},
          {{{"/normalizer", kNfc}}, kNoName},
      });
}

// As llama.cpp names the cuts of published models.
TEST(GgmlByteLevel, FindsThePreTokenizerByAllItsParts) {
  const auto name_of = [](const Json& json, const test::Changes& changes) {
    return test::describe(describe_byte_level, changed(json, changes)).pre;
  };
  const std::string digits = cutter({kDigits, kBytes});
  EXPECT_EQ(name_of(byte_level_tokenizer(), {}), "gpt-2");
  EXPECT_EQ(name_of(byte_level_tokenizer(), {{"/normalizer", kNfc}}), "mpt");
  EXPECT_EQ(name_of(byte_level_tokenizer(), {{"/pre_tokenizer", digits}}),
            "starcoder");
  EXPECT_EQ(name_of(byte_level_tokenizer(),
                    {{"/pre_tokenizer", digits}, {"/normalizer", kNfc}}),
            "command-r");
  EXPECT_EQ(name_of(with_split(), {}), "llama-bpe");
  EXPECT_EQ(name_of(with_split(), {{"/model/ignore_merges", "false"}}),
            "smaug-bpe");
}

TEST(GgmlByteLevel, HasTokensAndMerges) {
  const Description description =
      test::describe(describe_byte_level, byte_level_tokenizer());
  EXPECT_EQ(description.model, "gpt2");
  EXPECT_EQ(description.tokens,
            (std::vector<std::string>{"a", "b", "ab", "[PAD3]", "<|end|>"}));
  EXPECT_EQ(description.types,
            (std::vector<TokenType>{TokenType::kNormal, TokenType::kNormal,
                                    TokenType::kNormal, TokenType::kUnused,
                                    TokenType::kControl}));
  EXPECT_EQ(description.merges, std::vector<std::string>{"a b"});
  EXPECT_TRUE(description.scores.empty());
}

}  // namespace
}  // namespace rc::ggml
