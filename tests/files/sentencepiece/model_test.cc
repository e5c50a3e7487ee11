// SentencePiece models, valid and invalid ones.
#include "files/sentencepiece/model.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "files/sentencepiece/bytes.h"

namespace rc::sentencepiece {
namespace {

using test::flag;
using test::number;
using test::piece;
using test::text;

const std::string kPieces = piece("<unk>", 0, 2) + piece("<s>", 0, 3) +
                            piece("a", -1, 1) + piece("b", -2, 1);

void expect_refused(const std::string& bytes, rc_status status,
                    const std::string& message) {
  try {
    parse_model(bytes, "tokenizer.model");
    FAIL() << "accepted; expected: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), status) << error.message();
    EXPECT_NE(error.message().find(message), std::string::npos)
        << error.message();
    EXPECT_EQ(error.message().find("tokenizer.model: "), 0u);
  }
}

TEST(SentencePieceModel, IsReadWithItsDefaults) {
  const Model model = parse_model(kPieces, "tokenizer.model");
  EXPECT_EQ(model.algorithm, Algorithm::kUnigram);
  EXPECT_TRUE(model.add_dummy_prefix);
  EXPECT_TRUE(model.remove_extra_whitespaces);
  EXPECT_EQ(model.unknown, 0);
  EXPECT_EQ(model.bos, 1);
  EXPECT_EQ(model.eos, -1);
  ASSERT_EQ(model.pieces.size(), 4u);
  EXPECT_EQ(model.pieces[3].text, "b");
  EXPECT_EQ(model.pieces[3].score, -2);
}

TEST(SentencePieceModel, ReadsSettingsAndSkipsUnknownFields) {
  const Model model = parse_model(
      kPieces + text(2, flag(3, 2) + text(47, "<s>") + flag(999, 7)) +
          text(3, text(2, "map") + flag(3, 0) + flag(4, 0)) + text(200, "more"),
      "tokenizer.model");
  EXPECT_EQ(model.algorithm, Algorithm::kBpe);
  EXPECT_EQ(model.eos, 1);
  EXPECT_EQ(model.charsmap, "map");
  EXPECT_FALSE(model.add_dummy_prefix);
  EXPECT_FALSE(model.remove_extra_whitespaces);
}

TEST(SentencePieceModel, TruncatedModelsAreReadOrRefused) {
  const std::string whole = kPieces + text(2, flag(3, 2));
  for (size_t size = 0; size < whole.size(); ++size) {
    try {
      parse_model(whole.substr(0, size), "tokenizer.model");
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_FORMAT) << error.message();
    }
  }
}

TEST(SentencePieceModel, ErrorsNameTheFault) {
  expect_refused("", RC_E_FORMAT, "none of 0 pieces");
  expect_refused(std::string(11, '\xFF'), RC_E_FORMAT, "more than 64 bits");
  expect_refused(number(3), RC_E_FORMAT, "the number 0");
  expect_refused(number(1 << 3 | 3), RC_E_FORMAT, "wire type 3");
  expect_refused(number(1 << 3 | 2) + number(UINT64_MAX), RC_E_FORMAT,
                 "has 18446744073709551615 bytes");
  expect_refused(flag(1, 1), RC_E_FORMAT, "a piece before byte 2");
  expect_refused(kPieces + piece("a", 0, 1), RC_E_FORMAT,
                 "pieces 2 and 4 are both 'a'");
  expect_refused(kPieces + piece("?", 0, 2), RC_E_FORMAT, "pieces 0 and 4");
  expect_refused(kPieces + piece("", 0, 1), RC_E_FORMAT, "piece 4 is empty");
  expect_refused(kPieces + piece("\xC3", 0, 1), RC_E_FORMAT, "no UTF-8");
  expect_refused(kPieces + piece("c", 0, 7), RC_E_FORMAT, "of type 7");
  expect_refused(kPieces + piece("c", 1.0f / 0.0f, 1), RC_E_FORMAT,
                 "the score inf");
  expect_refused(kPieces + piece("<0x41>", 0, 6), RC_E_FORMAT,
                 "byte_fallback is false, but there are 1");
  expect_refused(kPieces + piece("<0xZZ>", 0, 6), RC_E_FORMAT, "'<0xZZ>'");
  expect_refused(kPieces + text(2, flag(3, 1ull << 40)), RC_E_FORMAT,
                 "more than 32 bits");
  expect_refused(kPieces + text(2, flag(3, 9)), RC_E_FORMAT, "model_type is 9");
}

TEST(SentencePieceModel, UnsupportedOptionsAreNamed) {
  expect_refused(kPieces + text(2, flag(3, 4)), RC_E_UNSUPPORTED, "CHAR");
  expect_refused(kPieces + text(2, flag(24, 1)), RC_E_UNSUPPORTED,
                 "treat_whitespace_as_suffix");
  expect_refused(kPieces + text(3, flag(5, 0)), RC_E_UNSUPPORTED,
                 "escape_whitespaces");
}

}  // namespace
}  // namespace rc::sentencepiece
