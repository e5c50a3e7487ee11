// Masks, taking back, cloning, and what is forced.
#include <numeric>
#include <random>
#include <thread>

#include "text/grammar/grammar_util.h"

namespace rc::text::grammar {
namespace {

// Masks say of every token what trying it says.
void check_mask(Matcher* matcher) {
  const VocabularyIndex& vocabulary = matcher->vocabulary();
  const TokenMask mask = matcher->mask();
  for (size_t i = 0; i < vocabulary.size(); ++i) {
    const auto token = static_cast<int32_t>(i);
    const bool accepted = matcher->clone()->accept(token);
    ASSERT_EQ(mask.test(token), accepted)
        << "token " << i << " " << vocabulary.text(token);
  }
}

// Draws a text through masks, up to some tokens.
std::string draw(const Grammar& grammar, uint32_t seed, bool check) {
  std::mt19937 random(seed);
  const std::unique_ptr<Matcher> matcher = grammar.match();
  std::string text;
  for (int i = 0; i < 60 && !matcher->ended(); ++i) {
    if (check) check_mask(matcher.get());
    std::vector<int32_t> allowed;
    for (size_t token = 0; token < small_vocabulary()->size(); ++token) {
      if (matcher->mask().test(static_cast<int32_t>(token))) {
        allowed.push_back(static_cast<int32_t>(token));
      }
    }
    EXPECT_FALSE(allowed.empty()) << text;
    if (allowed.empty()) break;
    const int32_t token = allowed[random() % allowed.size()];
    EXPECT_TRUE(matcher->accept(token));
    text += small_vocabulary()->text(token);
  }
  return text;
}

const std::vector<std::string>& schemas() {
  static const std::vector<std::string> kSchemas = {
      "true",
      R"({"type": "object"})",
      R"({"type": "object", "properties": {"a": {"type": "integer"},
          "ab": {"type": "string"}}, "required": ["a"]})",
      R"({"type": "object", "properties": {"aab": {}, "abc": {}},
          "additionalProperties": false, "minProperties": 2})",
      R"({"type": "object", "patternProperties": {"^a": {"type": "null"}},
          "additionalProperties": {"type": "string", "maxLength": 3}})",
      R"({"type": "string", "minLength": 2, "maxLength": 5})",
      R"({"type": "string", "pattern": "^(ab|a\u00e9)+\"?$"})",
      R"({"type": "array", "contains": {"const": "a"}, "maxItems": 3})",
      R"({"oneOf": [{"type": "object", "required": ["a"]},
          {"type": "object", "required": ["b"]}]})",
      R"({"type": "object", "not": {"patternProperties":
          {"^a": {"type": "null"}}}})",
      R"({"type": "object", "not": {"propertyNames": {"pattern": "^a"}}})",
      R"({"type": "number", "minimum": -1.5, "maximum": 12})",
      R"({"type": "array", "uniqueItems": true, "items": {"type": "string",
          "pattern": "^(a|ab|b)$"}})",
      R"({"type": "array", "uniqueItems": true, "minItems": 3,
          "items": {"type": "integer", "minimum": 1, "maximum": 3}})",
      R"({"type": "array", "uniqueItems": true, "maxItems": 3,
          "items": {"type": "object", "required": ["a"], "properties":
          {"a": {"enum": ["b", "ab", 1, 12]}}}})",
      R"({"type": "array", "uniqueItems": true, "items":
          {"type": ["boolean", "null", "number"]}})"};
  return kSchemas;
}

TEST(GrammarMatcher, MasksAreExactAndNeverEmpty) {
  for (const std::string& text : schemas()) {
    SCOPED_TRACE(text);
    const auto grammar = schema(text);
    for (uint32_t seed = 0; seed < 6; ++seed) draw(*grammar, seed, true);
  }
  const auto rules = Grammar::gbnf(
      "root ::= \"{\" item (\",\" item)* \"}\"\nitem ::= [a-c\xC3\xA9]+ | root",
      {}, small_vocabulary());
  for (uint32_t seed = 0; seed < 6; ++seed) draw(*rules, seed, true);
}

// Texts of a closed schema are texts of the schema.
TEST(GrammarMatcher, ClosedTextsAreValid) {
  const nlohmann::json cases =
      read_json(test::source_path("tests/text/grammar/cases.json"));
  std::vector<std::string> all = schemas();
  for (const auto& one : cases.at("schemas")) {
    all.push_back(one.at("schema").get<std::string>());
  }
  for (const std::string& text : all) {
    SCOPED_TRACE(text);
    JsonOptions options;
    options.reader.closed = true;
    options.reader.plain_integers = true;
    options.short_numbers = true;
    const auto closed = schema(text, options);
    const auto written = schema(text);
    for (uint32_t seed = 0; seed < 6; ++seed) {
      const std::string drawn = draw(*closed, seed, true);
      const auto matcher = written->match();
      EXPECT_TRUE(matcher->accept_bytes(drawn)) << drawn;
    }
  }
}

// A token of more characters than a string has room for is not allowed, however
// much room there is.
TEST(GrammarMatcher, LongTokensObeyTheLengthOfAString) {
  TokenVocabulary tokens;
  for (int byte = 0; byte < 256; ++byte) {
    tokens.tokens.emplace_back(1, static_cast<char>(byte));
  }
  for (const size_t length : {2, 23, 24, 25, 26, 89, 90, 254, 255, 256, 300}) {
    tokens.tokens.emplace_back(length, 'a');
    tokens.tokens.push_back(std::string(length, 'b') + "\"");
    std::string wide;
    for (size_t i = 0; i < length; ++i) wide += "\xC3\xA9";
    tokens.tokens.push_back(std::move(wide));
  }
  const auto vocabulary =
      std::make_shared<const VocabularyIndex>(std::move(tokens));
  std::vector<size_t> lengths(92);
  std::iota(lengths.begin(), lengths.end(), 0);
  for (size_t length = 252; length < 260; ++length) lengths.push_back(length);
  for (const size_t length : lengths) {
    const std::string string =
        cat(R"({"type": "string", "maxLength": )", length, "}");
    const std::string object =
        cat(R"({"properties": {"a": )", string, R"(}, "type": "object"})");
    const std::pair<std::string, std::string> cases[] = {
        {string, "\""}, {object, "{\"a\":\""}, {object, "{\"a\":\"\xC3\xA9"}};
    for (const auto& [text, begin] : cases) {
      SCOPED_TRACE(cat(text, " after ", begin));
      const auto matcher = Grammar::json_schema(text, {}, vocabulary)->match();
      if (!matcher->accept_bytes(begin)) continue;  // of one character too many
      check_mask(matcher.get());
    }
  }
}

TEST(GrammarMatcher, TokensCanBeRolledBack) {
  const auto grammar = schema(R"({"type": "object"})");
  const auto matcher = grammar->match();
  std::vector<TokenMask> masks;
  const std::string text = R"({"a": [1, {"b": "x"}], "c": null})";
  for (const char c : text) {
    masks.push_back(matcher->mask());
    ASSERT_TRUE(matcher->accept(c)) << c;
  }
  ASSERT_TRUE(matcher->accept(end_token()));
  EXPECT_TRUE(matcher->ended());
  EXPECT_FALSE(matcher->accept(' '));
  matcher->rollback(1);
  EXPECT_FALSE(matcher->ended());
  for (size_t i = masks.size(); i-- > 0;) {
    matcher->rollback(1);
    EXPECT_EQ(matcher->mask(), masks[i]) << i;
  }
  EXPECT_THROW(matcher->rollback(1), Error);
}

TEST(GrammarMatcher, ClonesAreIndependent) {
  const auto grammar = schema(R"({"type": "array"})");
  const auto matcher = grammar->match();
  ASSERT_TRUE(matcher->accept_bytes("[1"));
  const auto clone = matcher->clone();
  ASSERT_TRUE(matcher->accept_bytes("]"));
  EXPECT_TRUE(matcher->can_end());
  EXPECT_FALSE(clone->can_end());
  EXPECT_TRUE(clone->accept_bytes(", 2"));
  clone->rollback(2);
  EXPECT_FALSE(clone->accept_bytes("1"));
}

TEST(GrammarMatcher, ForcedBytesAreReturned) {
  JsonOptions options;
  options.max_spaces = 0;
  const auto grammar = schema(R"({"type": "object", "properties":
      {"name": {"enum": ["left", "lefter"]}}, "required": ["name"],
      "additionalProperties": false})",
                              options);
  const auto matcher = grammar->match();
  EXPECT_EQ(matcher->forced(), "{\"name\":\"left");
  ASSERT_TRUE(matcher->accept_bytes("{\"name\":\"lefte"));
  EXPECT_EQ(matcher->forced(), "r\"}");
  const std::vector<std::string> choices = {"yes, please", "yes, sir"};
  const auto chosen = Grammar::choices(choices, {}, small_vocabulary());
  EXPECT_EQ(chosen->match()->forced(), "yes, ");
}

TEST(GrammarMatcher, OneGrammarServesManyThreads) {
  for (const std::string& text : schemas()) {
    const auto shared = schema(text);
    const auto alone = schema(text);
    std::vector<std::string> expected;
    for (uint32_t seed = 0; seed < 8; ++seed) {
      expected.push_back(draw(*alone, seed, false));
    }
    std::vector<std::string> drawn(expected.size());
    std::vector<std::thread> threads;
    for (uint32_t seed = 0; seed < drawn.size(); ++seed) {
      threads.emplace_back(
          [&, seed] { drawn[seed] = draw(*shared, seed, false); });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(drawn, expected) << text;
  }
}

}  // namespace
}  // namespace rc::text::grammar
