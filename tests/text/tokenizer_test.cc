#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <random>

#include "base/error.h"
#include "labels.h"
#include "text/text_util.h"

namespace rc::text {
namespace {

using Ids = std::vector<TokenId>;

// Texts that are in NFC, so that every kind can give them back.
const std::vector<std::string>& texts() {
  static const std::vector<std::string> kTexts = {
      "",
      " ",
      "  two spaces, trailing  ",
      "\n\n\tlines\r\n",
      "Hello, world! It's 3.14159 and 1,000,000.",
      "for (int i = 0; i < 10; ++i) { x[i] *= 2; }",
      "Stra\xC3\x9F"
      "e \xD0\x9F\xD1\x80\xD0\xB8\xD0\xB2\xD0\xB5\xD1\x82 "
      "\xE4\xBD\xA0\xE5\xA5\xBD \xF0\x9F\x98\x80\xE2\x80\x8D\xE2\x9C\x94",
      std::string("nul \0 in the middle", 19),
      "\xE2\x96\x81 the mark itself",
  };
  return kTexts;
}

TEST(RoundTrip, ByteLevelTextsAreKept) {
  for (const std::string& name : byte_level_names()) {
    const auto tokenizer = golden_tokenizer(name);
    for (const std::string& text : texts()) {
      const Ids ids = tokenizer->tokenize(text, {.add_special = false});
      EXPECT_EQ(tokenizer->detokenize(ids), text) << name;
    }
  }
}

TEST(RoundTrip, SentencePieceTextsAreKept) {
  for (const char* name : {"spm", "spm-no-prefix"}) {
    const auto tokenizer = golden_tokenizer(name);
    for (const std::string& text : texts()) {
      // The mark cannot be distinguished from a space.
      if (text.starts_with("\xE2\x96\x81")) continue;
      const Ids ids = tokenizer->tokenize(text, {.add_special = false});
      EXPECT_EQ(tokenizer->detokenize(ids), text) << name;
    }
  }
}

TEST(RoundTrip, InvalidUtf8KeepsItsBytes) {
  std::mt19937 random(7);
  for (const char* name : {"bpe-gpt-2", "bpe-gpt-4o", "bpe-deepseek-llm", "spm",
                           "spm-no-prefix"}) {
    const auto tokenizer = golden_tokenizer(name);
    for (int i = 0; i < 300; ++i) {
      std::string text(random() % 40, '\0');
      for (char& c : text) {
        c = static_cast<char>(random() % 4 == 0 ? 'a' : 0x80 + random() % 0x80);
      }
      const Ids ids = tokenizer->tokenize(text, {.add_special = false});
      EXPECT_EQ(tokenizer->detokenize(ids), text) << name;
    }
  }
}

TEST(RoundTrip, ControlTokensAreKept) {
  const auto tokenizer = golden_tokenizer("spm");
  const std::string text = "<s>Hello</s> <s> spaces";
  const Ids ids =
      tokenizer->tokenize(text, {.add_special = false, .parse_special = true});
  EXPECT_EQ(std::count(ids.begin(), ids.end(), tokenizer->bos()), 2);
  EXPECT_EQ(tokenizer->detokenize(ids, true), text);
}

TEST(Tokenizer, SpecialTokensComeFromTextOnlyIfAsked) {
  const auto tokenizer = golden_tokenizer("bpe-gpt-2");
  const std::string text = "a<|im_start|>b<tool>";
  const Ids plain = tokenizer->tokenize(text, {.add_special = false});
  const Ids parsed =
      tokenizer->tokenize(text, {.add_special = false, .parse_special = true});
  EXPECT_EQ(std::count(plain.begin(), plain.end(), 597), 0);
  EXPECT_EQ(std::count(parsed.begin(), parsed.end(), 597), 1);
  // User-defined tokens always do.
  EXPECT_EQ(plain.back(), 599);
  EXPECT_EQ(parsed.back(), 599);
  EXPECT_EQ(tokenizer->detokenize(plain), text);
  EXPECT_EQ(tokenizer->detokenize(parsed), "ab<tool>");
  EXPECT_EQ(tokenizer->detokenize(parsed, true), text);
}

TEST(Tokenizer, LongestSpecialTokenWins) {
  Vocabulary v = sentencepiece_vocabulary();
  v.tokens.insert(v.tokens.end(), {"<user>er", "ser>"});
  v.scores.resize(v.tokens.size(), 0);
  v.types.resize(v.tokens.size(), TokenType::kUserDefined);
  const auto tokenizer = Tokenizer::create(v);
  // The space before a text is before a user-defined token, too.
  const Ids ids =
      tokenizer->tokenize("<user>er<user>e", {.add_special = false});
  EXPECT_EQ(ids, (Ids{3, 8, 7, 0}));
}

TEST(Tokenizer, AddsBosAndEos) {
  const auto ids = [](Vocabulary v, std::string_view text) {
    return Tokenizer::create(std::move(v))->tokenize(text, {});
  };
  EXPECT_EQ(ids(sentencepiece_vocabulary(), "ab"), (Ids{1, 3, 6}));
  EXPECT_EQ(ids(sentencepiece_vocabulary(), ""), (Ids{1}));
  EXPECT_EQ(ids(unigram_vocabulary(), "ab"), (Ids{3, 6, 2}));
  EXPECT_EQ(ids(wordpiece_vocabulary(), "ABc x"), (Ids{1, 3, 4, 0, 2}));
  EXPECT_EQ(ids(byte_level_vocabulary(), "ab"), (Ids{2}));
  Vocabulary v = byte_level_vocabulary();
  v.bos = v.eos = 4;
  EXPECT_EQ(ids(v, "ab"), (Ids{2}));
  v.pre = "llama3";  // these begin with it by default
  EXPECT_EQ(ids(v, "ab"), (Ids{4, 2}));
  v.add_bos = false;
  v.add_eos = true;
  EXPECT_EQ(ids(v, "ab"), (Ids{2, 4}));
}

TEST(Tokenizer, FindsEndTokens) {
  Vocabulary v = byte_level_vocabulary();
  v.tokens.insert(v.tokens.end(), {"<|im_end|>", "<|eot_id|>", "<|return|>"});
  v.types.resize(v.tokens.size(), TokenType::kControl);
  v.types[6] = TokenType::kNormal;  // a name alone is not enough
  v.eos = 0;
  v.eom = 1;
  const auto tokenizer = Tokenizer::create(v);
  std::vector<bool> ends;
  for (TokenId id = -1; id <= tokenizer->size(); ++id) {
    ends.push_back(tokenizer->is_end(id));
  }
  // <|end|> ends a message only, where there is <|return|>.
  EXPECT_EQ(ends, (std::vector<bool>{false, true, true, false, false, false,
                                     true, false, true, false}));
}

// However many there are, and whatever else the file says.
TEST(Tokenizer, EveryListedEndTokenIsAnEnd) {
  Vocabulary v = sentencepiece_vocabulary();
  v.types.clear();
  v.eos = 2;
  v.eot = 4;
  v.ends = {2, kNoToken, 1, 5, 6, 7};
  const auto tokenizer = Tokenizer::create(v);
  std::vector<TokenId> ends;
  for (TokenId id = -1; id <= tokenizer->size(); ++id) {
    if (tokenizer->is_end(id)) ends.push_back(id);
  }
  EXPECT_EQ(ends, (Ids{1, 2, 4, 5, 6, 7}));
  // Without types they are no part of a text.
  EXPECT_EQ(tokenizer->token_type(5), TokenType::kControl);
}

TEST(Tokenizer, TokenTypesAreOptional) {
  Vocabulary v = sentencepiece_vocabulary();
  v.types.clear();
  v.bos = 1;
  v.eos = 2;
  v.unknown = 0;
  const auto tokenizer = Tokenizer::create(v);
  EXPECT_EQ(tokenizer->token_type(0), TokenType::kUnknown);
  EXPECT_EQ(tokenizer->token_type(2), TokenType::kControl);
  EXPECT_EQ(tokenizer->tokenize("ab</s>", {.parse_special = true}),
            (Ids{1, 3, 6, 2}));
  EXPECT_EQ(tokenizer->detokenize(Ids{1, 3, 6, 2}), "ab");
}

TEST(Tokenizer, InvalidIdsAreHandled) {
  const auto tokenizer = Tokenizer::create(sentencepiece_vocabulary());
  for (const TokenId id : {-1, 8, INT32_MAX, INT32_MIN}) {
    EXPECT_EQ(tokenizer->token_bytes(id, true), "");
    EXPECT_EQ(tokenizer->token_text(id), "");
    EXPECT_FALSE(tokenizer->is_end(id));
  }
  EXPECT_EQ(tokenizer->size(), 8);
  EXPECT_EQ(tokenizer->unknown(), 0);
  EXPECT_EQ(tokenizer->token_bytes(3), " ");
  EXPECT_EQ(tokenizer->token_bytes(2), "");
  EXPECT_EQ(tokenizer->token_bytes(2, true), "</s>");
}

TEST(SentencePiece, UnusedPiecesAreIntermediateMergesOnly) {
  Vocabulary v = sentencepiece_vocabulary();
  v.types[6] = TokenType::kUnused;
  EXPECT_EQ(Tokenizer::create(v)->tokenize("ab", {.add_special = false}),
            (Ids{3, 4, 5}));
  v.tokens.push_back("abb");
  v.scores.push_back(-5);
  v.types.push_back(TokenType::kNormal);
  EXPECT_EQ(Tokenizer::create(v)->tokenize("abb", {.add_special = false}),
            (Ids{3, 8}));
}

TEST(SentencePiece, NeighbouringUnknownCharactersAreOneToken) {
  for (const Vocabulary& v :
       {sentencepiece_vocabulary(), unigram_vocabulary()}) {
    EXPECT_EQ(
        Tokenizer::create(v)->tokenize("xyax\xFF", {.add_special = false}),
        (Ids{3, 0, 4, 0}));
  }
}

TEST(WordPiece, CleansText) {
  const auto ids = [](std::string_view text) {
    return Tokenizer::create(wordpiece_vocabulary())
        ->tokenize(text, {.add_special = false});
  };
  EXPECT_EQ(ids("\xC3\x81\xC4\x82"
                "B"),
            (Ids{0}));  // aab
  EXPECT_EQ(ids("\xC3\x81"
                "B\xC4\x87"),
            (Ids{3, 4}));
  EXPECT_EQ(ids("a\xCC\x81"
                "b\xE2\x80\x8B"
                "c\xFF"),
            (Ids{3, 4}));
  EXPECT_EQ(ids("ab\xE4\xB8\x96"
                "ab!ab"),
            (Ids{3, 0, 3, 0, 3}));
  EXPECT_EQ(ids("ab" + std::string(98, 'c')).size(), 99u);
  EXPECT_EQ(ids("ab" + std::string(99, 'c')), (Ids{0}));
}

class LongTexts : public testing::TestWithParam<std::string> {};

// Returns the processor time of this process in seconds, which other programs
// do not change.
double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// Whatever a text is made of, the time grows little faster than its length: the
// limit is a hundred times what is needed, and less than what going over the
// text again from each of its places would take.
TEST_P(LongTexts, TakeLinearTime) {
  RC_TEST_LABELS(kNumbers);
  const auto tokenizer = golden_tokenizer(GetParam());
  for (const char* unit :
       {"a", "A", "1", " ", "\n", " \n", "!", "'", "'s", "a ", "aA", "<",
        "\xFF", "\xCC\x81", "\xCC\x81\xCC\xA3", "\xE4\xBD\xA0", "\xE2\x96\x81",
        "\xD7\x90", "<|im_start|"}) {
    // At an end that nothing matches patterns go back.
    for (const char* end : {"x", "\xE4\xBD\xA0"}) {
      std::string text;
      while (text.size() < size_t{1} << 17) text += unit;
      text += end;
      const double begin = processor_seconds();
      tokenizer->tokenize(text, {});
      EXPECT_LT(processor_seconds() - begin, 5) << unit << " " << end;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, LongTexts,
    testing::Values("bpe-deepseek-coder", "bpe-deepseek-llm", "bpe-deepseek-v3",
                    "bpe-falcon", "bpe-gpt-2", "bpe-gpt-4o", "bpe-llama-bpe",
                    "bpe-qwen2", "bpe-qwen35", "bpe-seed-coder",
                    "bpe-starcoder", "bpe-tekken", "spm", "unigram",
                    "wordpiece"),
    [](const auto& info) {
      std::string name = info.param;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST(Tokenizer, AMegabyteOfOneLetterIsTokenizedQuickly) {
  for (const char* name : {"bpe-gpt-2", "spm", "unigram", "wordpiece"}) {
    const auto tokenizer = golden_tokenizer(name);
    const double begin = processor_seconds();
    tokenizer->tokenize(std::string(1 << 20, 'a'), {});
    EXPECT_LT(processor_seconds() - begin, 20) << name;
  }
}

}  // namespace
}  // namespace rc::text
