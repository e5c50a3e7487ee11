#include "base/base64.h"

#include <gtest/gtest.h>

#include <string>

namespace rc {
namespace {

// Section 10 of RFC 4648.
TEST(Base64, MatchesTheVectorsOfTheRfc) {
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64("Zg=="), "f");
  EXPECT_EQ(decode_base64("Zm8="), "fo");
  EXPECT_EQ(decode_base64("Zm9v"), "foo");
  EXPECT_EQ(decode_base64("Zm9vYg=="), "foob");
  EXPECT_EQ(decode_base64("Zm9vYmE="), "fooba");
  EXPECT_EQ(decode_base64("Zm9vYmFy"), "foobar");
}

// Python's base64.b64decode gives these bytes.
TEST(Base64, EveryCharacterHasItsValue) {
  const std::string expected(
      "\x00\x10\x83\x10\x51\x87\x20\x92\x8b\x30\xd3\x8f\x41\x14\x93\x51"
      "\x55\x97\x61\x96\x9b\x71\xd7\x9f\x82\x18\xa3\x92\x59\xa7\xa2\x9a"
      "\xab\xb2\xdb\xaf\xc3\x1c\xb3\xd3\x5d\xb7\xe3\x9e\xbb\xf3\xdf\xbf",
      48);
  EXPECT_EQ(decode_base64("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                          "0123456789+/"),
            expected);
}

TEST(Base64, OtherTextIsRefused) {
  const std::string alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (int c = 0; c < 256; ++c) {
    const char byte = static_cast<char>(c);
    const bool known = alphabet.find(byte) != std::string::npos;
    EXPECT_EQ(decode_base64(std::string("AA") + byte + "A").has_value(), known)
        << c;
  }
  for (const char* text : {"A", "AA", "AAA", "A===", "A=AA", "AA=A", "AAAA="}) {
    EXPECT_FALSE(decode_base64(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace rc
