// Regular expressions and rules that are refused, and the nearest that are
// accepted, with texts that they match and texts that they do not.
#include "text/grammar/grammar_util.h"

namespace rc::text::grammar {
namespace {

struct Refused {
  const char* text;
  const char* part;
};
struct Accepted {
  const char* text;
  const char* right;
  const char* wrong;
};
using Compile = std::shared_ptr<const Grammar> (*)(std::string_view text);

std::shared_ptr<const Grammar> regex(std::string_view text) {
  return Grammar::regex(text, {}, small_vocabulary());
}

void expect_refused(Compile compile, const std::vector<Refused>& cases) {
  for (const Refused& one : cases) {
    const std::string error = error_of([&] { compile(one.text); });
    EXPECT_NE(error.find(one.part), std::string::npos)
        << one.text << " gives: " << error;
  }
}

void expect_accepted(Compile compile, const std::vector<Accepted>& cases) {
  for (const auto& [text, right, wrong] : cases) {
    SCOPED_TRACE(text);
    try {
      const auto grammar = compile(text);
      EXPECT_TRUE(accepts(*grammar, right)) << right;
      EXPECT_FALSE(accepts(*grammar, wrong)) << wrong;
    } catch (const Error& error) {
      ADD_FAILURE() << error.message();
    }
  }
}

TEST(RegexErrors, InvalidExpressionsAreRefused) {
  expect_refused(regex,
                 {{"\\ud83d", "a surrogate by itself"},
                  {"\\ud83d\\u0041", "a surrogate by itself"},
                  {"\\u004", "\\u needs four hexadecimal digits"},
                  {"\\u{}", "\\u{...} needs hexadecimal digits up to 10FFFF"},
                  {"\\u{110000}", "\\u{...} needs hexadecimal digits"},
                  {"\\u{41", "\\u{...} needs hexadecimal digits"},
                  {"\\x4", "\\x needs two hexadecimal digits"},
                  {"\\p{Greek}", "the property 'Greek'"},
                  {"\\p{L", "\\p{ is not closed"},
                  {"\\pL", "\\p needs a property in braces"},
                  {"\\01", "an octal escape"},
                  {"\\09", "an octal escape"},
                  {"a\\b", "the word boundary \\b"},
                  {"a\\B", "the word boundary \\B"},
                  {"(a)\\1", "a backreference"},
                  {"(a)\\9", "a backreference"},
                  {"\\c1", "\\c needs a letter"},
                  {"\\y", "\\y means nothing"},
                  {"a\\", "nothing follows the backslash"},
                  {"(?<=a)b", "lookbehind"},
                  {"(?<!a)b", "lookbehind"},
                  {"(?:(?=a)b|c)*d", "lookahead in a group that is repeated"},
                  {"(?:(?!a)b){33}", "lookahead in a group that is repeated"},
                  {"(?:(?!ab).)*c", "lookahead in a group that is repeated"},
                  {"(?=a)*", "a quantifier after lookahead"},
                  {"(?=a", "'(' without ')'"},
                  {"(?<n", "the name of a group is not closed"},
                  {"(?i)a", "flags or another extension after '(?'"},
                  {"(?>a)", "flags or another extension after '(?'"},
                  {"(a", "'(' without ')'"}});
}

TEST(RegexErrors, NearestValidExpressionsMatch) {
  expect_accepted(regex, {{"\\ud83d\\ude00", "\xF0\x9F\x98\x80", "\xF0"},
                          {"\\u0041", "A", "B"},
                          {"\\u{41}", "A", "B"},
                          {"\\u{10FFFF}", "\xF4\x8F\xBF\xBF", "A"},
                          {"\\ud7ff", "\xED\x9F\xBF", "A"},
                          {"\\ue000", "\xEE\x80\x80", "A"},
                          {"\\x41", "A", "B"},
                          {"\\x411", "A1", "A"},
                          {"\\p{L}", "a", "1"},
                          {"\\P{L}", "1", "a"},
                          {"\\p{ASCII}", "\x7F", "\xC2\x80"},
                          {"\\P{ASCII}", "\xC2\x80", "\x7F"},
                          {"\\p{Any}", "\xC2\x80", ""},
                          {"\\p{digit}", "1", "a"},
                          {"\\p{Uppercase_Letter}", "A", "a"},
                          {"\\p{gc=Nd}", "1", "a"},
                          {"\\p{General_Category=Lu}", "A", "a"},
                          {"[\\b]", "\b", "b"},
                          {"\\cA", "\x01", "A"},
                          {"\\cz", "\x1A", "z"},
                          {"(?<n>a)b", "ab", "b"},
                          {"(?P<n>a)b", "ab", "b"},
                          {"(?:a)b", "ab", "b"}});
}

TEST(LarkErrors, InvalidGrammarsAreRefused) {
  expect_refused(
      lark,
      {{"start: \"a\"\n%declare A", "the directive %declare is not supported"},
       {"start: \"a\"\n%import other.WORD", "only terminals of \"common\""},
       {"start: X\n%import common.X", "\"common\" has no terminal 'X'"},
       {"start: X\n%import common (INT, X)", "\"common\" has no terminal 'X'"},
       {"start: INT\n%import common (INT", "'(' without ')'"},
       {"start: INT\n%import common INT", "a terminal has to follow"},
       {"start{a}: \"a\"", "templates and attributes are not supported"},
       {"start[a]: \"a\"", "templates and attributes are not supported"},
       {"start: a{b}\na: \"a\"", "templates and attributes are not supported"},
       {"start: a[b]\na: \"a\"", "templates and attributes are not supported"},
       {"start: <a>", "special tokens and nested grammars"},
       {"start: /a/m", "the flag 'm' is not supported"},
       {"start: /a/ix", "the flag 'x' is not supported"},
       {"start: /a", "a regular expression is not closed"},
       {"start: /[/]", "a regular expression is not closed"},
       {"start: \"a\"\nstart: \"b\"", "the rule 'start' is defined twice"},
       {"start: a", "the rule 'a' is not defined"}});
}

TEST(LarkErrors, NearestValidGrammarsMatch) {
  expect_accepted(lark,
                  {{"start: \"a\" \"b\"\n%ignore \" \"", "a b", "a-b"},
                   {"start: INT\n%import common.INT", "12", "a"},
                   {"start: X\n%import common.INT -> X", "12", "a"},
                   {"start: INT WORD\n%import common (INT, WORD)", "12a", "a"},
                   {"start: a [b]\na: \"a\"\nb: \"b\"", "ab", "b"},
                   {"start: a [b]\na: \"a\"\nb: \"b\"", "a", "abb"},
                   {"start: /a.b/is", "A\nB", "AB"},
                   {"start: /a.b/i", "AxB", "A\nB"},
                   {"start: /[\\/]/", "/", "\\"},
                   {"start: \"a\"\nb: \"b\"", "a", "b"}});
}

TEST(GbnfErrors, InvalidEscapesAreRefused) {
  expect_refused(
      gbnf,
      {{"root ::= \"\\U00110000\"", "there is no character with this number"},
       {"root ::= \"\\uD800\"", "there is no character with this number"},
       {"root ::= \"\\uDFFF\"", "there is no character with this number"},
       {"root ::= \"\\x4\"", "this escape needs 2 hexadecimal digits"},
       {"root ::= \"\\u004\"", "this escape needs 4 hexadecimal digits"},
       {"root ::= \"\\U0000004\"", "this escape needs 8 hexadecimal digits"}});
  expect_accepted(gbnf, {{"root ::= \"\\U0010FFFF\"", "\xF4\x8F\xBF\xBF", "A"},
                         {"root ::= \"\\uD7FF\"", "\xED\x9F\xBF", "A"},
                         {"root ::= \"\\uE000\"", "\xEE\x80\x80", "A"},
                         {"root ::= \"\\x41\"", "A", "4"},
                         {"root ::= \"\\u0041\"", "A", "4"},
                         {"root ::= \"\\U00000041\"", "A", "4"}});
}

TEST(GbnfErrors, DuplicateAndEmptyRulesAreRefused) {
  expect_refused(
      gbnf,
      {{"root ::= \"a\"\nroot ::= \"b\"",
        "grammar: the rule 'root' is defined twice"},
       {"root ::= b", "grammar: the rule 'b' is not defined"},
       {"root ::= \"(\" root \")\"", "no text matches the rule 'root'"},
       {"root ::= root \"a\" | \"b\"", "the rule 'root' begins with itself"},
       {"root ::= b \"a\" | \"c\"\nb ::= \"x\"? root",
        "begins with itself (left recursion)"}});
  expect_accepted(gbnf, {{"root ::= b\nb ::= \"b\"", "b", "a"},
                         {"root ::= \"(\" root \")\" | \"x\"", "(x)", "(x"},
                         {"root ::= \"b\" | \"a\" root", "aab", "ba"}});
}

TEST(GbnfErrors, RepetitionsAreLimitedTo2000) {
  const std::string rule = "\nb ::= \"(\" b \")\" | \"x\"";
  const std::string error = error_of([&] { gbnf("root ::= b{2001}" + rule); });
  EXPECT_NE(
      error.find("the rule 'root' repeats something more than 2000 times"),
      std::string::npos)
      << error;
  const auto grammar = gbnf("root ::= b{2000}" + rule);
  EXPECT_TRUE(accepts(*grammar, std::string(2000, 'x')));
  EXPECT_FALSE(accepts(*grammar, std::string(1999, 'x')));
}

}  // namespace
}  // namespace rc::text::grammar
