// Values of SentencePiece models at their limits, and one beyond them.
#include <gtest/gtest.h>

#include <cstdio>
#include <limits>
#include <string>

#include "base/error.h"
#include "files/sentencepiece/bytes.h"
#include "files/sentencepiece/model.h"

namespace rc::sentencepiece {
namespace {

using test::flag;
using test::number;
using test::piece;
using test::text;

const std::string kControlPieces =
    piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("</s>", 0, 1);

// "" if it is read, else the message behind the name of the file.
std::string refusal(const std::string& bytes, rc_status status = RC_E_FORMAT) {
  try {
    parse_model(bytes, "m");
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), status) << error.message();
    EXPECT_EQ(error.message().find("m: "), 0u) << error.message();
    return error.message().substr(3);
  }
  return "";
}

std::string with_type(uint64_t type) {
  return kControlPieces + text(2, flag(3, type));
}

TEST(SentencePieceLimits, KindOfModelIsChecked) {
  EXPECT_EQ(refusal(with_type(1)), "");
  EXPECT_EQ(refusal(with_type(2)), "");
  EXPECT_EQ(refusal(with_type(3), RC_E_UNSUPPORTED),
            "model_type is WORD; known are UNIGRAM and BPE");
  EXPECT_EQ(refusal(with_type(4), RC_E_UNSUPPORTED),
            "model_type is CHAR; known are UNIGRAM and BPE");
  EXPECT_EQ(refusal(with_type(0)), "model_type is 0; 1 to 4 are possible");
  EXPECT_EQ(refusal(with_type(5)), "model_type is 5; 1 to 4 are possible");
  EXPECT_EQ(refusal(with_type(UINT64_MAX)),
            "model_type is -1; 1 to 4 are possible");
  EXPECT_EQ(
      refusal(kControlPieces + text(2, flag(24, 0)) + text(3, flag(5, 1))), "");
}

TEST(SentencePieceLimits, NumbersHave32BitsAtMost) {
  EXPECT_EQ(refusal(with_type(0x7FFFFFFF)),
            "model_type is 2147483647; 1 to 4 are possible");
  EXPECT_NE(refusal(with_type(0x80000000))
                .find(" is 2147483648, which has more than 32 bits"),
            std::string::npos);
  EXPECT_EQ(refusal(with_type(0xFFFFFFFF80000000)),
            "model_type is -2147483648; 1 to 4 are possible");
  EXPECT_NE(refusal(with_type(0xFFFFFFFF7FFFFFFF))
                .find(" is -2147483649, which has more than 32 bits"),
            std::string::npos);
}

TEST(SentencePieceLimits, FieldNumbersAreChecked) {
  constexpr uint64_t kMost = (uint64_t{1} << 29) - 1;
  const auto tagged = [](uint64_t field, uint64_t type) {
    return kControlPieces + number(field << 3 | type) + std::string(8, '\0');
  };
  const std::string at = cat("the field at byte ", kControlPieces.size());
  EXPECT_EQ(refusal(kControlPieces + number(kMost << 3) + number(7)), "");
  EXPECT_EQ(refusal(tagged(kMost + 1, 0)),
            at + " has the number 536870912; 1 to 536870911 are possible");
  EXPECT_EQ(refusal(tagged(0, 0)),
            at + " has the number 0; 1 to 536870911 are possible");
  EXPECT_EQ(refusal(tagged(9, 1)), "");
  EXPECT_EQ(refusal(kControlPieces + number(9 << 3 | 5) + std::string(4, '\0')),
            "");
  for (const uint64_t type : {3, 4, 6, 7}) {
    EXPECT_EQ(refusal(tagged(9, type)),
              cat(at, " is of wire type ", type, "; known are 0, 1, 2, 5"));
  }
  // One byte too few.
  EXPECT_NE(refusal(kControlPieces + number(9 << 3 | 1) + std::string(7, '\0'))
                .find("a number at byte "),
            std::string::npos);
  EXPECT_NE(refusal(kControlPieces + number(9 << 3 | 5) + std::string(3, '\0'))
                .find(" has 4 bytes, but its message ends after 3"),
            std::string::npos);
  EXPECT_EQ(refusal(kControlPieces + number(9 << 3 | 2) + number(3) + "abc"),
            "");
  EXPECT_NE(refusal(kControlPieces + number(9 << 3 | 2) + number(4) + "abc")
                .find("a field at byte "),
            std::string::npos);
}

// Seven bits a byte: the tenth has one.
TEST(SentencePieceLimits, VarintsHave64BitsAtMost) {
  const std::string nine(9, '\xFF');
  const auto value = [&](const std::string& bytes) {
    return refusal(kControlPieces + number(9 << 3) + bytes);
  };
  EXPECT_EQ(value(nine + '\x01'), "");
  EXPECT_NE(value(nine + '\x02').find(" has more than 64 bits"),
            std::string::npos);
  EXPECT_NE(value(nine + "\x81" + '\0').find(" has more than 64 bits"),
            std::string::npos);
}

TEST(SentencePieceLimits, PieceTypesAreChecked) {
  for (int type = 0; type <= 7; ++type) {
    const std::string message = refusal(kControlPieces + piece("c", 0, type));
    switch (type) {
      case 2:
        EXPECT_EQ(message, "pieces 0 and 3 both stand for what is unknown");
        break;
      case 6:
        EXPECT_EQ(message,
                  "piece 3, 'c', is to be a byte, and no <0x00> to <0xFF>");
        break;
      case 0:
      case 7:
        EXPECT_EQ(message, cat("piece 3, 'c', is of type ", type,
                               "; 1 to 6 are possible"));
        break;
      default:
        EXPECT_EQ(message, "") << type;
    }
  }
  using Limits = std::numeric_limits<float>;
  EXPECT_EQ(refusal(kControlPieces + piece("c", Limits::lowest(), 1)), "");
  EXPECT_EQ(refusal(kControlPieces + piece("c", -Limits::infinity(), 1)),
            "piece 3, 'c', has the score -inf");
  EXPECT_EQ(refusal(kControlPieces + piece("c", Limits::quiet_NaN(), 1)),
            "piece 3, 'c', has the score nan");
  EXPECT_EQ(refusal(piece("a", 0, 1)),
            "none of 1 pieces stands for what is unknown");
}

TEST(SentencePieceLimits, BytePiecesMustBeComplete) {
  const auto model = [](int count, bool fallback, const std::string& last) {
    std::string bytes = kControlPieces;
    for (int i = 0; i < count; ++i) {
      char name[16];
      std::snprintf(name, sizeof(name), "<0x%02X>", static_cast<unsigned>(i));
      bytes += piece(name, 0, 6);
    }
    if (!last.empty()) bytes += piece(last, 0, 6);
    return bytes + text(2, flag(35, fallback ? 1 : 0));
  };
  EXPECT_EQ(refusal(model(256, true, "")), "");
  EXPECT_EQ(refusal(model(255, true, "")),
            "byte_fallback is true, but there are 255 pieces for bytes");
  EXPECT_EQ(refusal(model(256, false, "")),
            "byte_fallback is false, but there are 256 pieces for bytes");
  EXPECT_EQ(refusal(model(0, false, "")), "");
  for (const char* name : {"<0xff>", "<0xFG>", "<0xGF>", "<0xFF)", "<0XFF>",
                           "<0xFF", "<0xFFF>", "0xFFF>"}) {
    EXPECT_EQ(refusal(model(255, true, name)),
              cat("piece 258, '", name,
                  "', is to be a byte, and no <0x00> to <0xFF>"));
  }
}

TEST(SentencePieceLimits, SpecialPiecesAreFound) {
  // Only control pieces are found.
  Model model = parse_model(kControlPieces, "m");
  EXPECT_EQ(model.unknown, 0);
  EXPECT_EQ(model.bos, 1);
  EXPECT_EQ(model.eos, -1);
  EXPECT_EQ(model.pad, -1);
  model =
      parse_model(kControlPieces + piece("end", 0, 3) + piece("<pad>", 0, 3) +
                      text(2, text(46, "begin") + text(47, "end")),
                  "m");
  EXPECT_EQ(model.bos, -1);
  EXPECT_EQ(model.eos, 3);
  EXPECT_EQ(model.pad, 4);
}

}  // namespace
}  // namespace rc::sentencepiece
