#include "text/stream_decoder.h"

#include <gtest/gtest.h>

#include <random>

#include "base/utf8.h"
#include "text/text_util.h"

namespace rc::text {
namespace {

std::string stream(const std::shared_ptr<const Tokenizer>& tokenizer,
                   const std::vector<TokenId>& ids, bool special) {
  StreamDecoder decoder(tokenizer, {.special = special});
  std::string text;
  for (const TokenId id : ids) {
    const std::string piece = decoder.push(id);
    EXPECT_EQ(valid_utf8(piece), piece);
    text += piece;
  }
  return text + decoder.finish();
}

TEST(StreamDecoder, PiecesJoinToTheWholeText) {
  const std::string text =
      "Gr\xC3\xBC\xC3\x9F"
      "e \xE4\xB8\x96\xE7\x95\x8C \xF0\x9F\xA6\x99\xF0\x9F"
      "\x98\xB6\xE2\x80\x8D\xF0\x9F\x8C\xAB\xEF\xB8\x8F !";
  for (const char* name : {"bpe-gpt-2", "bpe-gpt-4o", "spm", "spm-no-prefix"}) {
    const auto tokenizer = golden_tokenizer(name);
    const auto ids = tokenizer->tokenize(text, {});
    EXPECT_EQ(stream(tokenizer, ids, false), text) << name;
  }
}

TEST(StreamDecoder, EqualsRepairedDetokenizingForAnyIds) {
  std::mt19937 random(1);
  for (const char* name : {"bpe-gpt-2", "spm", "unigram", "wordpiece"}) {
    const auto tokenizer = golden_tokenizer(name);
    for (int round = 0; round < 500; ++round) {
      std::vector<TokenId> ids(random() % 30);
      for (TokenId& id : ids) {
        id = static_cast<TokenId>(random() % 620) - 5;
      }
      for (const bool special : {false, true}) {
        EXPECT_EQ(stream(tokenizer, ids, special),
                  valid_utf8(tokenizer->detokenize(ids, special)))
            << name;
      }
    }
  }
}

TEST(StreamDecoder, HoldsBackOnlyIncompleteCharacters) {
  const auto tokenizer = golden_tokenizer("spm");
  const auto byte = [&](int value) {
    return TokenId{3 + value};  // <0xNN>
  };
  StreamDecoder decoder(tokenizer);
  EXPECT_EQ(decoder.push(byte(0xF0)), "");
  EXPECT_EQ(decoder.push(byte(0x9F)), "");
  StreamDecoder copy = decoder;
  EXPECT_EQ(decoder.push(byte('a')),
            "\xEF\xBF\xBD"
            "a");
  EXPECT_EQ(decoder.finish(), "");
  EXPECT_EQ(copy.push(byte(0x98)), "");
  EXPECT_EQ(copy.push(byte(0x80)), "\xF0\x9F\x98\x80");
  EXPECT_EQ(copy.push(byte(0xE2)), "");
  EXPECT_EQ(copy.finish(), "\xEF\xBF\xBD");
  // Nothing can make these whole.
  EXPECT_EQ(copy.push(byte(0xFF)), "\xEF\xBF\xBD");
  EXPECT_EQ(copy.push(byte(0xE0)), "");
  EXPECT_EQ(copy.push(byte(0x80)), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(StreamDecoder, LeadingSpaceIsRemovedFromTheFirstPieceOnly) {
  const auto tokenizer = Tokenizer::create(sentencepiece_vocabulary());
  const TokenId space = 3, a = 4, bos = 1;
  StreamDecoder first(tokenizer);
  EXPECT_EQ(first.push(bos), "");
  EXPECT_EQ(first.push(space), "");
  EXPECT_EQ(first.push(space), " ");
  EXPECT_EQ(first.push(a), "a");
  StreamDecoder next(tokenizer, {.continues = true});
  EXPECT_EQ(next.push(space), " ");
}

}  // namespace
}  // namespace rc::text
