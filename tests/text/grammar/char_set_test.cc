#include "text/grammar/char_set.h"

#include <gtest/gtest.h>

#include <vector>

namespace rc::text::grammar {
namespace {

using Range = CharSet::Range;
using Ranges = std::vector<Range>;

TEST(CharSets, ContainNoSurrogate) {
  const Ranges all = {{0, 0xD7FF}, {0xE000, 0x10FFFF}};
  EXPECT_EQ(CharSet::all().ranges(), all);
  EXPECT_EQ((~CharSet()).ranges(), all);
  EXPECT_EQ(CharSet::of(0, 0x10FFFF).ranges(), all);
  EXPECT_TRUE(CharSet::of(0xD800, 0xDFFF).empty());
  EXPECT_TRUE((~CharSet::all()).empty());
  EXPECT_EQ(CharSet::of(0xD7FF, 0xE000).ranges(),
            (Ranges{{0xD7FF, 0xD7FF}, {0xE000, 0xE000}}));
  EXPECT_EQ(CharSet::of(Ranges{{0xD900, 0xE001}, {0x41, 0x42}}).ranges(),
            (Ranges{{0x41, 0x42}, {0xE000, 0xE001}}));
}

TEST(CharSets, ContainTheBoundsOfTheirRanges) {
  const CharSet set = CharSet::of(Ranges{{'b', 'd'}, {'x', 'x'}});
  for (const char c : {'b', 'c', 'd', 'x'}) {
    EXPECT_TRUE(set.contains(static_cast<char32_t>(c))) << c;
  }
  for (const char c : {'\0', 'a', 'e', 'w', 'y'}) {
    EXPECT_FALSE(set.contains(static_cast<char32_t>(c))) << c;
  }
  EXPECT_FALSE(CharSet().contains('a'));
}

TEST(CharSets, AdjacentRangesAreMerged) {
  EXPECT_EQ(CharSet::of("cab").ranges(), (Ranges{{'a', 'c'}}));
  EXPECT_EQ(CharSet::of("ac").ranges(), (Ranges{{'a', 'a'}, {'c', 'c'}}));
  const CharSet low = CharSet::of('a', 'f');
  EXPECT_EQ((low | CharSet::of('g', 'h')).ranges(), (Ranges{{'a', 'h'}}));
  EXPECT_EQ((low | CharSet::of('b', 'c')).ranges(), (Ranges{{'a', 'f'}}));
  EXPECT_EQ((low | CharSet::of('h', 'i')).ranges(),
            (Ranges{{'a', 'f'}, {'h', 'i'}}));
}

TEST(CharSets, IntersectAndComplement) {
  const CharSet low = CharSet::of('a', 'f');
  EXPECT_EQ((low & CharSet::of('f', 'h')).ranges(), (Ranges{{'f', 'f'}}));
  EXPECT_TRUE((low & CharSet::of('g', 'h')).empty());
  EXPECT_EQ((low & CharSet::of("aeg")).ranges(),
            (Ranges{{'a', 'a'}, {'e', 'e'}}));
  EXPECT_EQ((CharSet::of("aeg") & low).ranges(),
            (Ranges{{'a', 'a'}, {'e', 'e'}}));
  EXPECT_EQ((~low).ranges(),
            (Ranges{{0, 'a' - 1}, {'g', 0xD7FF}, {0xE000, 0x10FFFF}}));
  EXPECT_EQ((~CharSet::of(0, 'f')).ranges(),
            (Ranges{{'g', 0xD7FF}, {0xE000, 0x10FFFF}}));
  EXPECT_EQ((~CharSet::of('a', 0x10FFFF)).ranges(), (Ranges{{0, 'a' - 1}}));
  EXPECT_EQ((~CharSet::of('a', 0x10FFFE)).ranges(),
            (Ranges{{0, 'a' - 1}, {0x10FFFF, 0x10FFFF}}));
}

TEST(CharSets, CategoriesHaveShortAndLongNames) {
  CharSet set;
  ASSERT_TRUE(find_category("Decimal_Number", &set));
  EXPECT_TRUE(set.contains('0'));
  EXPECT_TRUE(set.contains('9'));
  EXPECT_TRUE(set.contains(0x0669));   // Arabic-Indic nine
  EXPECT_FALSE(set.contains(0x00B2));  // superscript two, of No
  EXPECT_FALSE(set.contains('a'));
  CharSet other;
  ASSERT_TRUE(find_category("Nd", &other));
  EXPECT_EQ(other, set);
  ASSERT_TRUE(find_category("N", &other));
  EXPECT_TRUE(other.contains(0x00B2));
  EXPECT_EQ(other & set, set);
  ASSERT_TRUE(find_category("Any", &other));
  EXPECT_EQ(other, CharSet::all());
  ASSERT_TRUE(find_category("ASCII", &other));
  EXPECT_EQ(other.ranges(), (Ranges{{0, 0x7F}}));
  ASSERT_TRUE(find_category("Lu", &other));
  EXPECT_TRUE(other.contains('A'));
  EXPECT_FALSE(other.contains('a'));
  EXPECT_FALSE(find_category("Alphabetic", &other));
  EXPECT_FALSE(find_category("Xy", &other));
  EXPECT_FALSE(find_category("", &other));
}

}  // namespace
}  // namespace rc::text::grammar
