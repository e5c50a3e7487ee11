// Which pieces a text begins with, and how many steps it takes to find them.
#include "text/piece_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "text/text_util.h"

namespace rc::text {
namespace {

using Found = std::vector<std::pair<TokenId, size_t>>;

PieceIndex index_of(const std::vector<std::string>& texts) {
  std::vector<Piece> pieces;
  for (size_t i = 0; i < texts.size(); ++i) {
    pieces.push_back({texts[i], static_cast<TokenId>(i)});
  }
  return PieceIndex(std::move(pieces));
}

// By trying every piece.
Found found_slowly(const std::vector<std::string>& texts,
                   const std::string& text) {
  Found found;
  for (size_t size = 1; size <= text.size(); ++size) {
    const auto at = std::find(texts.begin(), texts.end(), text.substr(0, size));
    if (at != texts.end()) found.emplace_back(at - texts.begin(), size);
  }
  return found;
}

Found found_by(const PieceIndex& index, const std::string& text) {
  Found found;
  for (PieceIndex::Walk walk(index, text); walk.next();) {
    found.emplace_back(walk.id(), walk.size());
  }
  return found;
}

TEST(PieceIndex, FindsAllPiecesThatPrefixAText) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const int letters = 1 + round % 3;
    const auto make = [&](size_t longest) {
      std::string text;
      for (size_t size = random() % (longest + 1); text.size() < size;) {
        text += static_cast<char>(
            "\xFF"
            "ab"[random() % letters]);
      }
      return text;
    };
    std::vector<std::string> texts;
    for (int i = 0; i < 40; ++i) texts.push_back(make(round % 30));
    const PieceIndex index = index_of(texts);
    for (int i = 0; i < 40; ++i) {
      const std::string text = make(40);
      EXPECT_EQ(found_by(index, text), found_slowly(texts, text));
      EXPECT_LE(found_by(index, text).size(), index.most_steps());
    }
  }
}

TEST(PieceIndex, StepsCountEndsAndBranchesOfPieces) {
  EXPECT_EQ(index_of({}).most_steps(), 0u);
  EXPECT_EQ(index_of({"a"}).most_steps(), 1u);
  // The length of pieces does not count.
  const std::string a(3000, 'a');
  EXPECT_EQ(index_of({a}).most_steps(), 1u);
  EXPECT_EQ(index_of({"a", a, a + "b", a + "c"}).most_steps(), 3u);
  EXPECT_EQ(index_of({"ab", "ac", "bc"}).most_steps(), 2u);
  std::vector<std::string> nested;
  std::vector<std::string> parting;
  for (size_t size = 1; size <= 600; ++size) {
    nested.push_back(a.substr(0, size));
    parting.push_back(a.substr(0, size) + "b");
  }
  EXPECT_EQ(index_of(nested).most_steps(), 600u);
  EXPECT_EQ(index_of(nested).steepest(), nested.back());
  EXPECT_EQ(index_of(parting).most_steps(), 600u);
}

// Every kind refuses a vocabulary with which each byte of a text would cost as
// much as all tokens along a long one.
TEST(PieceIndex, SlowVocabulariesAreRefused) {
  const auto with_steps = [](Vocabulary v, size_t steps, TokenType type,
                             const std::string& before = "") {
    for (size_t size = 1; size <= steps; ++size) {
      v.tokens.push_back(before + std::string(size, 'x'));
      v.types.push_back(type);
      if (!v.scores.empty()) v.scores.push_back(-1);
    }
    return v;
  };
  const auto expect_refused = [](Vocabulary v) {
    const std::string kind = v.model;
    try {
      Tokenizer::create(std::move(v));
      ADD_FAILURE() << kind;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_UNSUPPORTED) << kind;
      for (const char* part : {"small.gguf", "xxx", "513", "512"}) {
        EXPECT_NE(error.message().find(part), std::string::npos)
            << error.message();
      }
    }
  };
  using Type = TokenType;
  for (const Vocabulary& v :
       {sentencepiece_vocabulary(), byte_level_vocabulary(),
        wordpiece_vocabulary(), unigram_vocabulary()}) {
    Tokenizer::create(with_steps(v, kMostPieceSteps, Type::kUserDefined));
    expect_refused(with_steps(v, kMostPieceSteps + 1, Type::kUserDefined));
  }
  expect_refused(
      with_steps(unigram_vocabulary(), kMostPieceSteps + 1, Type::kNormal));
  expect_refused(
      with_steps(wordpiece_vocabulary(), kMostPieceSteps + 1, Type::kNormal));
  expect_refused(with_steps(wordpiece_vocabulary(), kMostPieceSteps + 1,
                            Type::kNormal, "\xE2\x96\x81"));
}

// The work for a byte is bounded by the steps, not by the longest piece: it is
// counted by how often tokenizing asks whether it should stop.
TEST(PieceIndex, LongPiecesCostNoMoreThanShortOnes) {
  const auto asked_with = [](size_t longest) {
    Vocabulary v = unigram_vocabulary();
    for (const size_t size : {longest, longest - 1}) {
      v.tokens.push_back(std::string(size, 'a'));
      v.types.push_back(TokenType::kNormal);
      v.scores.push_back(-1);
    }
    const auto tokenizer = Tokenizer::create(v);
    int asked = 0;
    TokenizeOptions options;
    options.should_stop = [&] {
      ++asked;
      return false;
    };
    const auto ids = tokenizer->tokenize(std::string(180000, 'a'), options);
    EXPECT_EQ(ids.size(), 1 + 1 + 180000 / longest)
        << "a space before, and the end after";
    return asked;
  };
  EXPECT_NEAR(asked_with(3000), asked_with(30), 50);
}

}  // namespace
}  // namespace rc::text
