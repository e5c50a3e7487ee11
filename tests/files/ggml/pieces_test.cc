// Merges of characters: those that scores of pieces cannot say.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "files/ggml/describe.h"

namespace rc::ggml {
namespace {

using test::changed;
using test::Json;

// Ids: <unk> 0, bytes 1 to 256, then the pieces from 257.
const Json& pieces_tokenizer() {
  static const Json kTokenizer = [] {
    Json json = Json::parse(R"({
      "added_tokens": [{"id": 262, "content": "<x>", "special": true}],
      "normalizer": {"type": "Sequence", "normalizers": [
          {"type": "Prepend", "prepend": "\u2581"},
          {"type": "Replace", "pattern": {"String": " "},
           "content": "\u2581"}]},
      "pre_tokenizer": null,
      "model": {"type": "BPE", "unk_token": "<unk>", "byte_fallback": true,
                "dropout": null, "ignore_merges": false, "vocab": {},
                "merges": [["a", "b"], ["ab", "c"]]}})");
    Json& vocabulary = json["model"]["vocab"];
    vocabulary["<unk>"] = 0;
    for (int i = 0; i < 256; ++i) {
      char name[8];
      std::snprintf(name, sizeof(name), "<0x%02X>", static_cast<unsigned>(i));
      vocabulary[name] = i + 1;
    }
    int id = 257;
    for (const char* piece : {"a", "b", "c", "ab", "abc"}) {
      vocabulary[piece] = id++;
    }
    return json;
  }();
  return kTokenizer;
}

Description described_pieces(const test::Changes& changes) {
  return test::describe(describe_pieces, changed(pieces_tokenizer(), changes));
}

const test::Changes kMetaspace = {
    {"/normalizer", "null"},
    {"/pre_tokenizer",
     R"({"type": "Metaspace", "replacement": "\u2581",
         "prepend_scheme": "always", "split": true})"}};

test::Changes metaspace(const test::Changes& more) {
  test::Changes changes = kMetaspace;
  changes.insert(changes.end(), more.begin(), more.end());
  return changes;
}

TEST(GgmlPieces, NamePartsWithoutKeys) {
  const char* follow = "it does not always follow its merges";
  test::expect_cases(
      describe_pieces, pieces_tokenizer(),
      {
          {{}, ""},
          {{{"/model/continuing_subword_prefix", R"("##")"}},
           "its pairs of characters have a continuing_subword_prefix"},
          {{{"/model/end_of_word_suffix", R"("</w>")"}},
           "its pairs of characters have a end_of_word_suffix"},
          {{{"/model/end_of_word_suffix", R"("")"}}, ""},
          {{{"/model/dropout", "0.1"}}, follow},
          {{{"/model/dropout", ""}}, ""},
          {{{"/model/ignore_merges", "true"}}, follow},
          {{{"/model/vocab", ""}}, "it has no vocabulary"},
          {{{"/model/vocab/<0xFF>", ""}}, "it has tokens for 255 bytes of 256"},
      });
}

// Digits are 0 to 9 and A to F.
TEST(GgmlPieces, InvalidByteTokensAreNotCounted) {
  for (const char* name : {"<0x0/>", "<0x:0>", "<0x@0>", "<0x0G>", "<0xff>",
                           "<0xFF]", "<1xFF>", "<0xFF >", "0xFF>>"}) {
    Json json = changed(pieces_tokenizer(), {{"/model/vocab/<0xFF>", ""}});
    json["model"]["vocab"][name] = 256;
    EXPECT_EQ(test::refusal(describe_pieces, json),
              "it has tokens for 255 bytes of 256")
        << name;
  }
}

TEST(GgmlPieces, NameNormalizersThatDoMoreThanMarkSpaces) {
  const char* more = "its normalizer does more than to mark spaces";
  const std::string first = "/normalizer/normalizers/0";
  const std::string second = "/normalizer/normalizers/1";
  test::expect_cases(describe_pieces, pieces_tokenizer(),
                     {
                         {{{first + "/prepend", R"("_")"}}, more},
                         {{{first + "/type", R"("NFC")"}}, more},
                         {{{"/normalizer/normalizers/2",
                            R"({"type": "Prepend", "prepend": "\u2581"})"}},
                          more},
                         {{{second + "/type", R"("Lowercase")"}}, more},
                         {{{second + "/pattern", ""}}, more},
                         {{{second + "/pattern", R"({"Regex": " "})"}}, more},
                         {{{second + "/pattern/String", R"("  ")"}}, more},
                         {{{second + "/content", R"("_")"}}, more},
                         {{{second, ""}}, "it does not mark spaces"},
                         {{{"/normalizer", "null"}}, "it does not mark spaces"},
                     });
}

TEST(GgmlPieces, NamePreTokenizersThatDoMoreThanMarkSpaces) {
  const char* more = "its pre-tokenizer does more than to mark spaces";
  const std::string split =
      R"({"type": "Split", "pattern": {"String": " "},
          "behavior": "MergedWithPrevious", "invert": false})";
  test::expect_cases(
      describe_pieces, pieces_tokenizer(),
      {
          {kMetaspace, ""},
          {metaspace({{"/pre_tokenizer/replacement", R"("_")"}}), more},
          {metaspace({{"/pre_tokenizer/type", R"("Whitespace")"}}), more},
          // A second mark.
          {{kMetaspace[1]}, more},
          // There is no space left to cut at.
          {{{"/pre_tokenizer", split}}, ""},
          {{{"/normalizer", "null"}, {"/pre_tokenizer", split}}, more},
          {{{"/pre_tokenizer", split},
            {"/pre_tokenizer/pattern/String", R"("a")"}},
           more},
          {{{"/pre_tokenizer", split}, {"/pre_tokenizer/pattern", ""}}, more},
          {{{"/pre_tokenizer", split}, {"/pre_tokenizer/type", R"("Digits")"}},
           more},
      });
}

TEST(GgmlPieces, NameMergesThatScoresCannotExpress) {
  const test::Changes bc = {{"/model/vocab/bc", "263"}};
  const auto merges = [&](const std::string& list) {
    test::Changes changes = bc;
    changes.emplace_back("/model/merges", list);
    return changes;
  };
  const char* out = "its merges leave out a way to make 'abc'";
  test::expect_cases(
      describe_pieces, pieces_tokenizer(),
      {
          {{{"/model/merges", ""}}, "it has no merges"},
          {{{"/model/merges", "[]"}}, "it has no merges"},
          {{{"/model/merges", R"(["a b", "ab c"])"}}, ""},
          {{{"/model/merges/0", R"("ab")"}}, "a merge is 'ab' and ''"},
          {{{"/model/merges/0", R"("a b c")"}}, "a merge is 'a' and 'b c'"},
          {{{"/model/merges/0", R"(" b")"}}, "a merge is '' and 'b'"},
          {{{"/model/merges/0", R"(["a", ""])"}}, "a merge is 'a' and ''"},
          {{{"/model/merges/0", R"(["", "b"])"}}, "a merge is '' and 'b'"},
          {{{"/model/merges/0", R"(["a b", "c"])"}},
           "a merge is 'a b' and 'c'"},
          {{{"/model/merges/0", R"(["a", "b c"])"}},
           "a merge is 'a' and 'b c'"},
          {{{"/model/merges/0", R"(["a", "b", "c"])"}}, "a merge is '' and ''"},
          // Pairs that no merge meets.
          {{{"/model/merges/2", R"(["x", "y"])"}}, ""},
          {merges(R"(["a b", "b c", "ab c", "a bc"])"), ""},
          {merges(R"(["a b", "ab c", "b c", "a bc"])"),
           "its merges make 'abc' at different times"},
          {merges(R"(["a b", "b c", "ab c"])"), out},
          {merges(R"(["a b", "b c", "a bc"])"), out},
          {{{"/model/merges", R"(["a b"])"}}, out},
      });
}

TEST(GgmlPieces, NamePiecesThatAreTooLongOrCut) {
  const auto piece = [](const std::string& text) {
    return std::pair("/model/vocab/" + text, std::string("263"));
  };
  const char* cut = "its texts are cut at spaces, and '";
  test::expect_cases(
      describe_pieces, pieces_tokenizer(),
      {
          {{piece(std::string(256, 'q'))}, ""},
          {{piece(std::string(257, 'q'))},
           "token 263 has 257 bytes; at most 256 are checked"},
          {metaspace({piece("\u2581q")}),
           // Two characters that no merge joins.
           "its merges leave out a way to make '"},
          {metaspace({piece("q\u2581q")}), cut},
          {metaspace({piece("qq\u2581")}), cut},
          {metaspace({piece("q\u2581q"), {"/pre_tokenizer/split", ""}}), cut},
          {metaspace({piece("q\u2581q"), {"/pre_tokenizer/split", "false"}}),
           ""},
          {metaspace({{"/added_tokens/0/content", R"("q\u2581q")"}}), ""},
          {{piece("q\u2581q")}, ""},
          // A mark at the beginning is where texts are cut.
          {metaspace({piece("\u2581qq")}), ""},
      });
}

TEST(GgmlPieces, HaveScoresInTheOrderOfMerges) {
  const Description description = described_pieces({});
  EXPECT_EQ(description.model, "llama");
  ASSERT_EQ(description.tokens.size(), 263u);
  EXPECT_EQ(description.types[0], TokenType::kUnknown);
  EXPECT_EQ(description.types[1], TokenType::kByte);
  EXPECT_EQ(description.types[256], TokenType::kByte);
  EXPECT_EQ(description.types[257], TokenType::kNormal);
  EXPECT_EQ(description.types[262], TokenType::kControl);
  EXPECT_EQ(description.unknown, 0);
  EXPECT_EQ(std::vector<float>(description.scores.begin() + 257,
                               description.scores.end()),
            (std::vector<float>{0, 0, 0, -1, -2, 0}));
  const Description more = described_pieces(
      {{"/model/vocab/bc", "263"},
       {"/model/merges", R"(["a b", "b c", "ab c", "a bc"])"}});
  EXPECT_EQ(std::vector<float>(more.scores.begin() + 257, more.scores.end()),
            (std::vector<float>{0, 0, 0, -1, -3, 0, -2}));
  EXPECT_EQ(described_pieces({{"/model/unk_token", "null"}}).unknown,
            std::nullopt);
}

TEST(GgmlPieces, WarnWhereOtherProgramsFindOtherTokens) {
  const std::string space = "texts that begin with a space";
  const std::string special = "texts behind special tokens";
  const struct {
    test::Changes changes;
    bool prefix;
    std::vector<std::string> differences;
  } cases[] = {
      {{}, true, {}},
      {{{"/normalizer/normalizers/0", ""}}, false, {}},
      {kMetaspace, true, {space}},
      {metaspace({{"/pre_tokenizer/prepend_scheme", R"("first")"}}),
       true,
       {space, special}},
      {metaspace({{"/pre_tokenizer/prepend_scheme", R"("never")"}}), false, {}},
  };
  for (const auto& item : cases) {
    const Description description = described_pieces(item.changes);
    EXPECT_EQ(description.add_space_prefix, item.prefix);
    EXPECT_EQ(description.differences, item.differences);
  }
}

}  // namespace
}  // namespace rc::ggml
