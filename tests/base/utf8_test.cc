#include "base/utf8.h"

#include <gtest/gtest.h>

namespace rc {
namespace {

TEST(Utf8, RepairsMaximalSubparts) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(valid_utf8("\xF0\x90\x28"), bad + "(");
  EXPECT_EQ(valid_utf8("\xC0\xAF"), bad + bad);            // overlong
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), bad + bad + bad);  // surrogate
  EXPECT_EQ(valid_utf8("\xF4\x90\x80\x80"), bad + bad + bad + bad);
  EXPECT_EQ(valid_utf8("\xE2\x82"), bad);
  EXPECT_EQ(valid_utf8("\xF4\x8F\xBF\xBF"), "\xF4\x8F\xBF\xBF");
}

TEST(Utf8, EveryCharacterSurvives) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    std::string text;
    append_utf8(c, &text);
    const Utf8Char decoded = decode_utf8(text);
    ASSERT_EQ(decoded.state, Utf8::kValid);
    ASSERT_EQ(decoded.code_point, c);
    ASSERT_EQ(decoded.size, text.size());
    text.pop_back();
    if (text.empty()) continue;
    ASSERT_EQ(decode_utf8(text).state, Utf8::kIncomplete);
  }
}

}  // namespace
}  // namespace rc
