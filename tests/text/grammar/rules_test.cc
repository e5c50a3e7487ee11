// GBNF and Lark.
#include "text/grammar/grammar_util.h"

namespace rc::text::grammar {
namespace {

TEST(Gbnf, RulesAreFollowed) {
  expect_texts(*gbnf(R"g(
      # sums
      root ::= sum
      sum ::= term (("+" | "-") term)*
      term ::= [0-9]+ | "(" sum ")"  # in one another
      )g"),
               {"1", "12+3", "(1-(2+3))+4"}, {"", "+", "1+", "(1", "1)"});
  expect_texts(*gbnf("root ::= \"\\x41\\u00e9\" [^a-c\\]]{2,3} .? -x\n"
                     "-x ::= \"!\"?"),
               {"A\xC3\xA9zz", "A\xC3\xA9zz\xC3\xA9!", "A\xC3\xA9zzzq!"},
               {"A\xC3\xA9z", "A\xC3\xA9za]"});
  expect_texts(*gbnf("root ::= ([x]* | root2)*\nroot2 ::= \"(\" root \")\""),
               {"", "xx", "(x)x((x))"}, {"(", "y"});
  expect_texts(*gbnf("root ::= (\"a\" b{2}){1,2}\nb ::= \"b\" | \"(\" b \")\""),
               {"ab(b)", "abbab((b))"}, {"ab", "abbabbabb"});
}

TEST(Gbnf, ErrorsNameThePlace) {
  const auto error = [](std::string_view text) {
    return error_of([&] { gbnf(text); });
  };
  EXPECT_NE(error("root ::= \"a\n").find("line 2, column 1"),
            std::string::npos);
  EXPECT_NE(error("root ::= <think>").find("tokens"), std::string::npos);
  EXPECT_NE(error("root ::= b").find("not defined"), std::string::npos);
  EXPECT_NE(error("x ::= \"b\"").find("root"), std::string::npos);
  EXPECT_NE(error("root ::= \"a\" | root \"a\"").find("left recursion"),
            std::string::npos);
  EXPECT_NE(error("root ::= e root \"a\" | \"b\"\ne ::= \"x\" | ")
                .find("left recursion"),
            std::string::npos);
  EXPECT_NE(error("root ::= \"(\" root \")\"").find("no text"),
            std::string::npos);
  EXPECT_NE(error("root ::= " + std::string(1000, '(')).find("groups"),
            std::string::npos);
}

TEST(Gbnf, RecordedCasesMatch) {
  const auto path = test::shared_path("grammar/grammar-integration-cases.json");
  RC_NEED_SHARED(path);
  for (const auto& given : read_json(path)) {
    if (given["kind"] == "json_schema") continue;
    const std::string text = given["grammar"];
    SCOPED_TRACE(text);
    if (given["kind"] == "gbnf_must_not_parse" ||
        text.find("<[") != std::string::npos) {
      EXPECT_THROW(gbnf(text), Error);
      continue;
    }
    const auto grammar = gbnf(text);
    for (const auto& pass : given["pass"]) {
      EXPECT_TRUE(accepts(*grammar, pass.get<std::string>())) << pass;
    }
    for (const auto& wrong : given["fail"]) {
      EXPECT_FALSE(accepts(*grammar, wrong.get<std::string>())) << wrong;
    }
  }
}

TEST(Lark, RulesAndTerminalsAreFollowed) {
  expect_texts(*lark(R"g(
      start: sum
      ?sum: sum ("+" | "-") product -> add   // begins with itself
          | product
      product.2: ATOM ("*" ATOM)*
               | "(" sum ")"
      ATOM: NUMBER | "x".."z" | "pi"i
      %import common.NUMBER
      %import common (WS_INLINE, CNAME)
      %ignore WS_INLINE
      )g"),
               {"1", " 1 + 2.5*y - ( 3 ) ", "PI*x"}, {"", "1 +", "w", "1\n"});
  expect_texts(*lark("start: \"a\"~2..3 [B] /[^\\/]+/s?\nB: /b/i \"c\"+\n"),
               {"aa", "aaaBcc", "aab", "aa\n"}, {"a", "aaaa/"});
}

TEST(Lark, ErrorsNameThePlace) {
  const auto error = [](std::string_view text) {
    return error_of([&] { lark(text); });
  };
  EXPECT_NE(error("start: \"a\n").find("line 1"), std::string::npos);
  EXPECT_NE(error("start: \"a\"\n%declare X").find("%declare"),
            std::string::npos);
  EXPECT_NE(error("start: a").find("not defined"), std::string::npos);
  EXPECT_NE(error("x: \"a\"").find("start"), std::string::npos);
  EXPECT_NE(error("start: /(?=a)b/").find("lookahead"), std::string::npos);
  EXPECT_NE(error("start: a\na: b \"x\" | \"y\"\nb: a").find("left recursion"),
            std::string::npos);
  EXPECT_NE(error("start: A\nA: \"x\" b").find("terminal"), std::string::npos);
}

TEST(GrammarRules, RulesWithoutTextsAreRefused) {
  const auto expect_refused = [](const auto& compile) {
    EXPECT_NE(error_of(compile).find("no text matches"), std::string::npos);
  };
  constexpr std::string_view kNone = "[^\\x00-\\U0010FFFF]";
  for (const std::string& text :
       {cat("root ::= ", kNone), cat("root ::= \"a\" ", kNone, " | x\nx ::= x"),
        std::string("root ::= root"), std::string("root ::= \"a\" root"),
        std::string("root ::= a\na ::= \"x\" b\nb ::= \"y\" a"),
        cat("root ::= (", kNone, " root)+"),
        cat("root ::= ", kNone, "{2,3}")}) {
    expect_refused([&] { gbnf(text); });
  }
  for (const char* text :
       {"start: start", "start: start | start", "start: \"a\" start",
        "start: a\na: b\nb: a", "start: A\nA: /[^\\u{0}-\\u{10FFFF}]/"}) {
    expect_refused([&] { lark(text); });
  }
  for (const char* text : {"[^\\u{0}-\\u{10FFFF}]", "[]", "a[]", "(?:[]|a[])b",
                           "a$b", "a^b", "[]{2,3}"}) {
    expect_refused([&] { Grammar::regex(text, {}, small_vocabulary()); });
  }
  expect_refused([] { Grammar::choices({}, {}, small_vocabulary()); });
  // Others of the kind have the empty text, or one in place of an empty class.
  expect_texts(*gbnf(cat("root ::= ", kNone, "*")), {""}, {"a"});
  expect_texts(*gbnf(cat("root ::= ", kNone, " | \"a\" | root \"b\" ", kNone)),
               {"a"}, {"", "ab"});
  expect_texts(*lark("start: start | \"a\""), {"a"}, {""});
}

TEST(GrammarRules, LimitsAreKept) {
  TextOptions options;
  options.rules.max_symbols = 100;
  EXPECT_NE(error_of([&] {
              gbnf("root ::= (\"a\" | \"(\" root \")\"){100}", options);
            }).find("symbols"),
            std::string::npos);
  options.rules = {};
  options.rules.max_depth = 3;
  const auto shallow = gbnf("root ::= \"(\" root \")\" | \"a\"", options);
  EXPECT_TRUE(accepts(*shallow, "((a))"));
  EXPECT_FALSE(accepts(*shallow, "((((((a))))))"));
  options.max_expressions = 1000;
  EXPECT_NE(error_of([&] {
              const auto grammar = Grammar::regex("(a|aa){500}(b|a){500}c",
                                                  options, small_vocabulary());
              const auto matcher = grammar->match();
              for (int i = 0; i < 2000; ++i) matcher->accept_bytes("a");
            }).find("states"),
            std::string::npos);
  options = {};
  options.max_lex_states = 50;
  EXPECT_NE(error_of([&] {
              const auto grammar =
                  Grammar::regex("a{100}", options, small_vocabulary());
              const auto matcher = grammar->match();
              for (int i = 0; i < 100; ++i) matcher->accept_bytes("a");
            }).find("states"),
            std::string::npos);
}

// Large ranges have all cases of their letters; smaller ones after them are
// folded as those before them. U+FF41 and U+FF21 are one letter.
TEST(Lark, CasesAreFoldedInEveryRangeOfAClass) {
  expect_texts(*lark(R"(start: /[k\u2000-\u4fff\uff41]/i)"),
               {"k", "K", "\xE2\x80\x80", "\xEF\xBD\x81", "\xEF\xBC\xA1"},
               {"j", "\xEF\xBC\xA2"});
}

}  // namespace
}  // namespace rc::text::grammar
