// Hostile grammars, deep and long ones, compiled and followed on a small stack.
#include "small_stack.h"

#include <cstdlib>

#include "text/grammar/grammar_util.h"

namespace rc::text::grammar {
namespace {

std::string repeated(std::string_view text, size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i) result += text;
  return result;
}

std::string nested(std::string_view open, std::string_view inner,
                   std::string_view close, size_t count) {
  return repeated(open, count) + std::string(inner) + repeated(close, count);
}

// Rules "r0", "r1" and so on, each made of its number.
template <class Rule>
std::string rules(std::string_view first, size_t count, Rule rule) {
  std::string text(first);
  for (size_t i = 0; i < count; ++i) text += rule(i);
  return text;
}

struct Hostile {
  const char* name;
  std::string text;
};
// For GoogleTest, which would print the bytes.
void PrintTo(const Hostile& hostile, std::ostream* out) {
  *out << hostile.name;
}

std::string name_of(const testing::TestParamInfo<Hostile>& info) {
  return info.param.name;
}

// Masks and bytes along a text, as far as it is allowed.
void follow_some(const Grammar& grammar, std::string_view text) {
  const auto matcher = grammar.match();
  for (const char c : text) {
    matcher->mask();
    if (!matcher->accept_bytes(std::string_view(&c, 1))) break;
  }
  matcher->mask();
}

TextOptions text_options() {
  TextOptions options;
  options.max_expressions = 200'000;
  options.max_lex_states = 20'000;
  return options;
}

class RegexOnSmallStack : public testing::TestWithParam<Hostile> {};
TEST_P(RegexOnSmallStack, IsCompiledOrRefused) {
  small_vocabulary();
  EXPECT_TRUE(test::fits_small_stack([&] {
    follow_some(
        *Grammar::regex(GetParam().text, text_options(), small_vocabulary()),
        repeated("a", 200));
  }));
  // The same as the pattern of a schema.
  JsonOptions options;
  options.max_expressions = 200'000;
  options.max_lex_states = 20'000;
  const std::string schema_text =
      nlohmann::json({{"pattern", "^" + GetParam().text + "$"}}).dump();
  EXPECT_TRUE(test::fits_small_stack([&] {
    follow_some(*schema(schema_text, options), "\"" + repeated("a", 200));
  }));
}
INSTANTIATE_TEST_SUITE_P(
    Hostile, RegexOnSmallStack,
    testing::Values(
        Hostile{"LongGroup", "(?:" + repeated("a", 60'000) + ")b"},
        Hostile{"LongGroups", repeated("(?:" + repeated("a", 600) + ")b", 50)},
        Hostile{"Long", repeated("a", 60'000)},
        Hostile{"LongAlternatives", repeated("ab|", 20'000) + "c"},
        Hostile{"ManyClasses", repeated("[a-z]|\\p{L}|", 5'000) + "c"},
        Hostile{"LongClass", "[" + repeated("a-b", 30'000) + "]"},
        Hostile{"NestedGroups", nested("(?:a|", "b", ")", 99)},
        Hostile{"NestedRepetitions", nested("(?:a", "b", ")*", 99)},
        Hostile{"NestedOptions", nested("(?:a?", "b", ")?", 99)},
        Hostile{"TooManyGroups", nested("(", "b", ")", 50'000)},
        Hostile{"OpenGroups", repeated("(", 50'000)},
        Hostile{"OptionalInARow", repeated("a?", 390)},
        Hostile{"MoreOptionalInARow", repeated("a?", 5'000)},
        Hostile{"RepetitionsOfRepetitions",
                nested("(?:", "a", "{1,9}){1,9}", 90)},
        Hostile{"RepeatedInARow", repeated("(?:ab){0,1000}", 300)}),
    name_of);

class GbnfOnSmallStack : public testing::TestWithParam<Hostile> {};
TEST_P(GbnfOnSmallStack, IsCompiledOrRefused) {
  small_vocabulary();
  EXPECT_TRUE(test::fits_small_stack([&] {
    follow_some(
        *Grammar::gbnf(GetParam().text, text_options(), small_vocabulary()),
        repeated("a", 200));
  }));
}
INSTANTIATE_TEST_SUITE_P(
    Hostile, GbnfOnSmallStack,
    testing::Values(
        Hostile{"Doubling", rules("root ::= r0\nr17 ::= \"a\"\n", 17,
                                  [](size_t i) {
                                    const auto next = std::to_string(i + 1);
                                    return cat("r", i, " ::= r", next, " r",
                                               next, "\n");
                                  })},
        Hostile{"Chain", rules("root ::= r0\nr20000 ::= \"a\"\n", 20'000,
                               [](size_t i) {
                                 return cat("r", i, " ::= \"a\" | r", i + 1,
                                            "\n");
                               })},
        Hostile{
            "ChainOfRules",
            rules("root ::= r0\nr20000 ::= \"a\" root | \"b\"\n", 20'000,
                  [](size_t i) { return cat("r", i, " ::= r", i + 1, "\n"); })},
        Hostile{"ChainOnTheLeft", rules("root ::= r0\nr9000 ::= \"a\"\n", 9'000,
                                        [](size_t i) {
                                          return cat("r", i, " ::= r", i + 1,
                                                     " \"a\"\n");
                                        })},
        Hostile{"LongLiteral", "root ::= (\"" + repeated("a", 60'000) +
                                   "\") \"b\" root | \"c\""},
        Hostile{"NestedGroups",
                "root ::= " + nested("(\"a\" | ", "root \"b\"", ")", 99)},
        Hostile{"TooManyGroups",
                "root ::= " + nested("(", "\"a\"", ")", 50'000)},
        Hostile{"Stars", "root ::= \"(\" root \")\" " + repeated("*", 50'000)},
        Hostile{"StarsOfRegular", "root ::= \"a\" " + repeated("*", 50'000)},
        Hostile{"Pairs",
                "root ::= (\"(\" root \")\")" + repeated("{1,2}", 5'000)},
        Hostile{"Repetitions",
                "root ::= (\"(\" root \")\")" + repeated("{2000}", 9)}),
    name_of);

class LarkOnSmallStack : public testing::TestWithParam<Hostile> {};
TEST_P(LarkOnSmallStack, IsCompiledOrRefused) {
  small_vocabulary();
  EXPECT_TRUE(test::fits_small_stack([&] {
    follow_some(
        *Grammar::lark(GetParam().text, text_options(), small_vocabulary()),
        repeated("a", 200));
  }));
}
INSTANTIATE_TEST_SUITE_P(
    Hostile, LarkOnSmallStack,
    testing::Values(
        Hostile{"Doubling", rules("start: r0\nr17: \"a\"\n", 17,
                                  [](size_t i) {
                                    return cat("r", i, ": r", i + 1, " r",
                                               i + 1, "\n");
                                  })},
        Hostile{"Terminals", rules("start: R0\nR17: \"a\"\n", 17,
                                   [](size_t i) {
                                     return cat("R", i, ": R", i + 1, " R",
                                                i + 1, "\n");
                                   })},
        Hostile{"Regex", "start: /(?:" + repeated("a", 60'000) + ")b/"},
        Hostile{"NestedGroups",
                "start: " + nested("(\"a\" | ", "start \"b\"", ")", 98)},
        Hostile{"NestedOptions",
                "start: " + nested("[\"a\" ", "start", "]", 98)},
        Hostile{"RegexInGroups",
                "start: " + nested("(\"a\" ",
                                   "/" + nested("(", "a", ")*", 99) + "/", ")",
                                   98)},
        Hostile{"OpenGroups", "start: " + repeated("(", 50'000)},
        Hostile{"Repetitions",
                "start: " + nested("(", "\"a\"", "~1..2)~1..2", 90)}),
    name_of);

TEST(TextOnSmallStack, OfAnyLengthAndDepthIsMatchedAndFreed) {
  small_vocabulary();
  JsonOptions options;
  options.max_depth = 1024;
  EXPECT_TRUE(test::fits_small_stack([&] {
    const auto grammar = schema("{}", options);
    const auto keys = grammar->match();
    std::string text = "{";
    for (int i = 0; i < 3000; ++i) text += cat("\"", i, "\":1,");
    if (!keys->accept_bytes(text)) std::abort();
    const auto levels = grammar->match();
    if (!levels->accept_bytes(repeated("[", 1024))) std::abort();
    levels->mask();
    levels->clone()->mask();
  }));
}

class SchemaOnSmallStack : public testing::TestWithParam<Hostile> {};
TEST_P(SchemaOnSmallStack, IsCompiledOrRefused) {
  small_vocabulary();
  JsonOptions options;
  options.max_expressions = 200'000;
  options.max_lex_states = 20'000;
  EXPECT_TRUE(test::fits_small_stack([&] {
    const auto grammar = schema(GetParam().text, options);
    follow_some(*grammar, repeated("{\"a\":", 130));
    follow_some(*grammar, repeated("[", 130) + "1,1");
    follow_some(*grammar, repeated("[{\"a\":", 130));
  }));
}
INSTANTIATE_TEST_SUITE_P(
    Hostile, SchemaOnSmallStack,
    testing::Values(
        Hostile{
            "Properties",
            nested(
                R"({"type": "object", "required": ["a"], "properties": {"a": )",
                "{}", "}}", 99)},
        Hostile{"Items", nested(R"({"type": "array", "minItems": 1, "items": )",
                                "{}", "}", 198)},
        Hostile{"Contains",
                nested(R"({"type": "array", "contains": )", "{}", "}", 198)},
        Hostile{"Not",
                nested(R"({"not": )", R"({"type": "object"})", "}", 198)},
        Hostile{"NotOfProperties",
                nested(R"({"not": {"properties": {"a": )", "{}", "}}}", 65)},
        Hostile{"AnyOf",
                nested(R"({"anyOf": [{"const": 1}, )", "{}", "]}", 98)},
        Hostile{"AllOf",
                nested(R"({"allOf": [{"minimum": 1}, )", "{}", "]}", 98)},
        Hostile{"OneOf",
                nested(R"({"oneOf": [{"type": "null"}, )", "{}", "]}", 98)},
        Hostile{"If", nested(R"({"if": {"type": "object"}, "then": )", "{}",
                             "}", 198)},
        Hostile{"ConstArrays",
                R"({"const": )" + nested("[", "1", "]", 198) + "}"},
        Hostile{"ConstObjects",
                R"({"enum": [)" + nested(R"({"a": )", "1", "}", 197) + "]}"},
        Hostile{"LongConst",
                R"({"const": [)" + repeated("[],", 20'000) + "1]}"},
        Hostile{"TooDeep", nested("[", "1", "]", 100'000)},
        Hostile{"TooDeepSchema", nested(R"({"items": )", "{}", "}", 50'000)},
        Hostile{"References",
                rules(R"({"$ref": "#/$defs/r0", "$defs": {"r5000": {})", 5'000,
                      [](size_t i) {
                        return cat(", \"r", i, R"(": {"$ref": "#/$defs/r)",
                                   i + 1, "\"}");
                      }) +
                    "}}"},
        Hostile{"ReferencesOfProperties",
                rules(R"({"$ref": "#/$defs/r0", "$defs": {"r280": {})", 280,
                      [](size_t i) {
                        return cat(", \"r", i,
                                   R"(": {"required": ["a"], "properties": )",
                                   R"({"a": {"$ref": "#/$defs/r)", i + 1,
                                   "\"}}}");
                      }) +
                    "}}"},
        Hostile{"PropertyNames",
                nested(R"({"propertyNames": )", "{}", "}", 198)},
        Hostile{"Dependencies",
                nested(R"({"dependentSchemas": {"a": )", "{}", "}}", 99)},
        Hostile{"LongPattern",
                R"({"pattern": "(?:)" + repeated("a", 60'000) + R"()b"})"},
        Hostile{"LongName", R"({"properties": {")" + repeated("a", 60'000) +
                                R"(": {"type": "null"}}})"}),
    name_of);

}  // namespace
}  // namespace rc::text::grammar
