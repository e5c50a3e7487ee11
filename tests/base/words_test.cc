#include "base/words.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rc {
namespace {

std::vector<std::string> lines(std::string_view text) {
  std::vector<std::string> all;
  while (const auto line = take_line(text)) all.emplace_back(*line);
  return all;
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> all;
  while (const auto word = take_word(text)) all.emplace_back(*word);
  return all;
}

using Strings = std::vector<std::string>;

TEST(Words, LinesIncludeAnUnterminatedOne) {
  EXPECT_EQ(lines(""), Strings());
  EXPECT_EQ(lines("\n"), Strings({""}));
  EXPECT_EQ(lines("a b\n\nc\n"), Strings({"a b", "", "c"}));
  EXPECT_EQ(lines("a\nb"), Strings({"a", "b"}));
}

TEST(Words, AreSplitAtWhiteSpace) {
  EXPECT_EQ(words(""), Strings());
  EXPECT_EQ(words(" \t\n\r\v\f"), Strings());
  EXPECT_EQ(words("  max\t100000 \n"), Strings({"max", "100000"}));
}

TEST(Words, NumbersAreReadInOrder) {
  std::string_view text = "50000 0.5kB\n-1 max";
  EXPECT_EQ(take_number<double>(text), 50000);
  EXPECT_EQ(take_number<double>(text), 0.5);
  EXPECT_EQ(take_number<int>(text), -1);
  EXPECT_EQ(take_number<double>(text), std::nullopt);
  EXPECT_EQ(take_number<double>(text), std::nullopt);
  text = "18446744073709551616";
  EXPECT_EQ(take_number<uint64_t>(text), std::nullopt);
}

}  // namespace
}  // namespace rc
