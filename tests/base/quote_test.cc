#include "base/quote.h"

#include <gtest/gtest.h>

namespace rc {
namespace {

TEST(Utf8, AcceptsWellFormedText) {
  for (const char* text :
       {"", "a", "\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF",
        "\xEE\x80\x80", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(is_utf8(text)) << quote(text);
  }
  EXPECT_TRUE(is_utf8(std::string_view("a\0b", 3)));
}

TEST(Utf8, RefusesIllFormedText) {
  for (const char* text :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2z", "\xE0\x9F\xBF",
        "\xE2\x82", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF", "\xF0\x9F\x98",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "fine\xFE"}) {
    EXPECT_FALSE(is_utf8(text)) << quote(text);
  }
}

TEST(Quote, EscapesUnprintableCharacters) {
  EXPECT_EQ(quote(""), "''");
  EXPECT_EQ(quote("token_embd.weight"), "'token_embd.weight'");
  EXPECT_EQ(quote("gr\xC3\xBC\xC3\x9F"), "'gr\xC3\xBC\xC3\x9F'");
  EXPECT_EQ(quote(std::string_view("\x1B[0m\0\x7F\xC3(", 8)),
            "'\\x1b[0m\\x00\\x7f\\xc3('");
}

TEST(Quote, CutsLongTextBetweenCharacters) {
  EXPECT_EQ(quote(std::string(80, 'a')), "'" + std::string(80, 'a') + "'");
  EXPECT_EQ(quote(std::string(81, 'a')), "'" + std::string(80, 'a') + "...'");
  // The character that begins at byte 79 is kept whole.
  const std::string text = std::string(79, 'a') + "\xE2\x82\xAC" + "b";
  EXPECT_EQ(quote(text), "'" + text.substr(0, 82) + "...'");
}

}  // namespace
}  // namespace rc
