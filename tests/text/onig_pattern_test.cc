// Patterns of Oniguruma: those that are refused, with the byte and the reason,
// and the nearest that are translated.
#include "text/tokenizer_json/onig_pattern.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "text/stop_check.h"

namespace rc::text {
namespace {

TEST(OnigPattern, ErrorsNamePlaceAndReason) {
  struct Case {
    std::string pattern;
    size_t at;
    std::string why;
  };
  const std::string nested =
      "of nested classes only those alone in an intersection are supported";
  const std::vector<Case> cases = {
      {"a(?~b)", 3, "absent operators are not supported"},
      {"a{2}+", 1, "a count with a plus sign after it is not supported"},
      {"a{,2}+", 1, "a count with a plus sign after it is not supported"},
      {"\\x", 0, "a code point needs its digits"},
      {"\\xg", 0, "a code point needs its digits"},
      {"\\x{}", 0, "a code point needs its digits"},
      {"\\u004", 0, "a code point needs its digits"},
      {"\\u004g", 0, "a code point needs its digits"},
      {"\\x80", 0, "bytes that are no characters are not supported"},
      {"\\x{41", 0, "a code point needs its closing brace"},
      {"\\x{41g}", 0, "a code point needs its closing brace"},
      {"\\x{000000041}", 0, "a code point needs its closing brace"},
      {"\\p", 0, "a property needs braces around its name"},
      {"\\pL", 0, "a property needs braces around its name"},
      {"\\pL}", 0, "a property needs braces around its name"},
      {"\\p{L", 0, "a property needs braces around its name"},
      {"a\\", 1, "the pattern ends within an escape"},
      {"[a\\", 2, "the pattern ends within an escape"},
      {"\\X", 0, "this escape is not supported"},
      {"\\N", 0, "this escape is not supported"},
      {"\\cA", 0, "this escape is not supported"},
      {"[\\W]", 1, "this escape is not supported in a class"},
      {"[\\H]", 1, "this escape is not supported in a class"},
      {"[\\R]", 1, "this escape is not supported in a class"},
      {"[\\X]", 1, "this escape is not supported in a class"},
      {"[a", 2, "a class needs its closing bracket"},
      {"[]", 2, "a class needs its closing bracket"},
      {"[[:alpha", 1, "a class needs its closing bracket"},
      {"[[:nosuch:]]", 1, "this class of characters is not supported"},
      {"[a&&]", 5, "an intersection needs two sides"},
      {"[&&a]", 5, "an intersection needs two sides"},
      {"[a[b]]", 2, nested},
      {"[[a]b]", 4, nested},
  };
  for (const Case& item : cases) {
    try {
      const std::string made = pcre2_pattern(item.pattern, "here ");
      ADD_FAILURE() << item.pattern << " gives " << made;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_UNSUPPORTED) << item.pattern;
      EXPECT_EQ(error.message(), "here is the pattern '" + item.pattern +
                                     "'; at byte " + std::to_string(item.at) +
                                     ": " + item.why);
    }
  }
}

// The parts of the text that the pattern matches, separated by bars.
std::string matches(const std::string& pattern, const std::string& text) {
  const std::function<bool()> never;
  StopCheck stop(never);
  std::string out;
  for (const Span found : onig_regex(pattern, "here ").find_all(text, &stop)) {
    if (!out.empty()) out += '|';
    out += text.substr(found.begin, found.end - found.begin);
  }
  return out;
}

TEST(OnigPattern, NearestValidPatternsMatch) {
  struct Case {
    std::string pattern;
    std::string text;
    std::string found;
  };
  const std::vector<Case> cases = {
      {"\\x41", "xA1", "A"},
      {"\\x411", "xA1", "A1"},
      {"\\x4", "a\x04", "\x04"},
      {"\\x7F", "a\x7F", "\x7F"},
      {"\\x{41}", "xA1", "A"},
      {"\\x{00000041}", "xA1", "A"},
      {"\\x{aF}", "a\xC2\xAF", "\xC2\xAF"},
      {"\\u0041", "xA1", "A"},
      {"\\u00411", "xA1", "A1"},
      {"[\\x41-\\x{43}]+", "ABCD", "ABC"},
      {"(?i)a", "aAb", "a|A"},
      {"(?m).+", "a\nb", "a\nb"},
      {"a{2}", "aaab", "aa"},
      {"a{2}?", "aaaa", "aa|aa"},
      {"ba{,2}", "baaa", "baa"},
      {"a{", "a{", "a{"},
      {"a{,}", "a{,}", "a{,}"},
      {"a{1,2,3}", "a{1,2,3}", "a{1,2,3}"},
      {"\\p{L}+", "ab1", "ab"},
      {"\\P{L}+", "ab1", "1"},
      {"\\p{^L}+", "ab1", "1"},
      {"\\P{^L}+", "ab1", "ab"},
      {"\\p{Letter}+", "ab1", "ab"},
      {"\\p{Upper_case-letter}+", "abCD", "CD"},
      {"\\p{Greek}+", "a\xCE\xB1", "\xCE\xB1"},
      {"\\p{Script=Greek}+", "a\xCE\xB1", "\xCE\xB1"},
      {"\\\\", "a\\", "\\"},
      {"[a\\\\]+", "a\\b", "a\\"},
      {"[]a]+", "a]b", "a]"},
      {"[^]a]+", "a]b", "b"},
      {"[[:alpha:]]+", "ab1", "ab"},
      {"[[:alpha:]1]+", "ab1", "ab1"},
      {"[a-d&&c-f]+", "abcdef", "cd"},
      {"[a-d&&[c-f]]+", "abcdef", "cd"},
      {"[[a-d]&&c-f]+", "abcdef", "cd"},
      {"[^a-d&&c-f]+", "abcdef", "ab|ef"},
      {"[[a-c]]+", "abcd", "abc"},
      {"[\\w]+", "a_-", "a_"},
      {"[\\S]+", "ab c", "ab|c"},
      {"\\H+", "fg", "g"},
  };
  for (const Case& item : cases) {
    try {
      EXPECT_EQ(matches(item.pattern, item.text), item.found) << item.pattern;
    } catch (const Error& error) {
      ADD_FAILURE() << item.pattern << ": " << error.message();
    }
  }
}

TEST(OnigPattern, NestingOfClassesIsLimited) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + "a" + std::string(depth, ']');
  };
  EXPECT_EQ(matches(nested(9), "ba"), "a");
  EXPECT_THROW(pcre2_pattern(nested(10), "here "), Error);
}

}  // namespace
}  // namespace rc::text
