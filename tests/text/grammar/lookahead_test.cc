// Lookahead in regular expressions, compared with PCRE2 on all short texts.
#include <functional>
#include <string>
#include <vector>

#include "text/grammar/grammar_util.h"
#include "text/regex.h"

namespace rc::text::grammar {
namespace {

// All texts of a, b and c with at most so many letters.
std::vector<std::string> short_texts(size_t most) {
  std::vector<std::string> texts = {""};
  for (size_t i = 0; i < texts.size() && texts[i].size() < most; ++i) {
    for (const char c : {'a', 'b', 'c'}) texts.push_back(texts[i] + c);
  }
  return texts;
}

const std::vector<std::string> kPatterns = {
    "(?=b)",
    "(?!b)",
    "a(?=b)",
    "a(?!b)",
    "a(?!b)c",
    "(?=a)b",
    "^(?=.*a)(?=.*b)",
    "^(?=.*a)(?=.*b).{3,4}$",
    "^(?!.*ab)",
    "^(?!a$)",
    "^(?!ab$|c)[abc]+$",
    "(?!^)a",
    "(?!^a)a",
    "(?=^a)a",
    "(?!^a)b?$",
    "a(?=$)",
    "a(?!$)",
    "a(?=b$|$)",
    "(?=(?!ab)a)",
    "(?!(?=a)ab)[ab]c",
    "(?=a|^b)c?",
    "(a|(?=b))c$",
    "(?:a(?!c))?b$",
    "^(?:a(?!c))?b?$",
    "^(?:a(?=b)|b(?!b)){1,3}",
    "^(?:a(?=b)|b(?!b)){0,3}$",
    "^(?:(?!b)[abc]){2}",
    "(?:(?!a).)*",
    "b(?:(?!a).)*",
    "^((?!ab).)*$",
    "^(?:(?!ab)[abc])+$",
    "^(?:(?!^a).)*$",
    "a(?:(?!^b|c$).)*$",
    "(?:(?!a)(?!^b)[abc]){2,}$",
    "^(?:(?=.b)(?!cb).)*$",
    "^(?:(?!b)a)*$",
    "c|(?!a)b|^$",
    "^(?!(?!a)b|(?=c$))",
    "(?=a*b)(?:ab?|c)$",
    "^a(?=b)(?:b|c)*$",
};

using GrammarPtr = std::shared_ptr<const Grammar>;

// Nothing is allowed without a grammar, which there is not if no text is valid.
bool allows(const GrammarPtr& grammar, const std::string& text) {
  return grammar != nullptr && accepts(*grammar, text);
}

template <class Make>
GrammarPtr made(Make make) {
  GrammarPtr grammar;
  const std::string message = message_of([&] { grammar = make(); });
  EXPECT_TRUE(message.empty() || message == "schema: no value is valid" ||
              message == "grammar: no text matches")
      << message;
  return grammar;
}

GrammarPtr strings(nlohmann::json keywords) {
  keywords["type"] = "string";
  return made([&] { return schema(keywords.dump()); });
}

TEST(Lookahead, MatchesLikeOtherEngines) {
  const auto texts = short_texts(4);
  for (const std::string& pattern : kPatterns) {
    SCOPED_TRACE(pattern);
    const std::function<bool()> never;
    StopCheck stop(never);
    const Regex known(pattern);
    const Regex known_whole("\\A(?:" + pattern + ")\\z");
    const auto search = strings({{"pattern", pattern}});
    const auto none = strings({{"not", {{"pattern", pattern}}}});
    const auto whole = made([&] {
      return Grammar::regex("(?:" + pattern + ")", {}, small_vocabulary());
    });
    for (const std::string& text : texts) {
      const bool found = !known.find_all(text, &stop).empty();
      const std::string json = '"' + text + '"';
      ASSERT_EQ(allows(search, json), found) << text;
      ASSERT_EQ(allows(none, json), !found) << text;
      ASSERT_EQ(allows(whole, text), !known_whole.find_all(text, &stop).empty())
          << text;
    }
  }
}

TEST(Lookahead, WorksInPropertyNames) {
  const auto grammar = schema(
      R"x({"type": "object", "patternProperties": {"^(?!x-)": {"type":
          "integer"}, "^x-": {"type": "string"}}})x");
  EXPECT_TRUE(accepts(*grammar, R"({"a": 1, "x-a": "b"})"));
  EXPECT_FALSE(accepts(*grammar, R"({"a": "b"})"));
  EXPECT_FALSE(accepts(*grammar, R"({"x-a": 1})"));
}

// Well-known patterns for a password, a host name and a path.
TEST(Lookahead, MatchesWellKnownPatterns) {
  const auto allows = [](const std::string& pattern, const std::string& text) {
    const nlohmann::json given = {{"type", "string"}, {"pattern", pattern}};
    return accepts(*schema(given.dump()), nlohmann::json(text).dump());
  };
  const std::string password =
      R"(^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)(?=.*[!@#$%^&*])[^\s]{8,24}$)";
  EXPECT_TRUE(allows(password, "aB3!efgh"));
  EXPECT_FALSE(allows(password, "aB3!efg"));
  EXPECT_FALSE(allows(password, "ab3!efgh"));
  const std::string host =
      R"(^(?!-)(?:[a-z0-9-]{1,20})(?:\.(?!-)[a-z0-9-]{1,20}){0,3}$)";
  EXPECT_TRUE(allows(host, "a-b.example"));
  EXPECT_FALSE(allows(host, "a.-b"));
  const std::string path = R"(^(?!.*\.\.)/(?:(?!//)[a-z./])*$)";
  EXPECT_TRUE(allows(path, "/a/b.c"));
  EXPECT_FALSE(allows(path, "/a/../b"));
  EXPECT_FALSE(allows(path, "/a//b"));
}

// Copies of lookahead within copies, and long patterns, stay within the limits.
TEST(Lookahead, TakesBoundedWork) {
  const auto error = [](const std::string& pattern) {
    return message_of([&] {
      schema(nlohmann::json{{"type", "string"}, {"pattern", pattern}}.dump())
          ->match()
          ->mask();
    });
  };
  std::string nested = "(?!a)b";
  for (int i = 0; i < 20; ++i) nested = "(?:" + nested + "){32}";
  EXPECT_NE(error(nested).find("lookahead in a group that is repeated"),
            std::string::npos);
  std::string many;
  for (int i = 0; i < 300; ++i) many += "(?!a.{1000}b).";
  for (const std::string& pattern : {many, many + "$"}) {
    const std::string message = error(pattern);
    EXPECT_TRUE(message.empty() ||
                message.find("simplify") != std::string::npos)
        << message.substr(0, 300);
  }
}

}  // namespace
}  // namespace rc::text::grammar
