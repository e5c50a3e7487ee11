// Masks within keys: tokens that end a key and go on behind it are judged by
// the key that they make.
#include <string>
#include <vector>

#include "text/grammar/grammar_util.h"

namespace rc::text::grammar {
namespace {

std::shared_ptr<const VocabularyIndex> vocabulary_of_keys() {
  TokenVocabulary vocabulary;
  for (int byte = 0; byte < 256; ++byte) {
    vocabulary.tokens.emplace_back(1, static_cast<char>(byte));
  }
  for (const char* key : {"", "a", "b", "ab", "aa", "aab", "x", "xa"}) {
    for (const char* value : {"1", "null", "\"s\"", "1,\"a", "null,\"b\":1"}) {
      for (const char* end : {"", "}"}) {
        vocabulary.tokens.push_back(std::string(key) + "\":" + value + end);
      }
    }
    vocabulary.tokens.push_back(std::string(key) + "\":");
    vocabulary.tokens.push_back(std::string(key) + "\"");
  }
  vocabulary.tokens.emplace_back("");
  vocabulary.ends = {static_cast<int32_t>(vocabulary.tokens.size() - 1)};
  return std::make_shared<const VocabularyIndex>(std::move(vocabulary));
}

TEST(KeyMasks, EqualTheMasksOfSingleBytes) {
  const auto vocabulary = vocabulary_of_keys();
  const char* const schemas[] = {
      R"({"type": "object"})",
      R"({"type": "object", "properties": {"a": {"type": "integer"}}})",
      R"({"type": "object", "properties": {"aab": {"type": "integer"},
          "ab": {"type": "null"}}})",
      R"({"type": "object", "patternProperties": {"^a": {"type": "null"}}})",
      R"({"type": "object", "properties": {"ab": {"type": "integer"}},
          "additionalProperties": {"type": "null"}})",
      R"({"type": "object", "required": ["ab"]})",
      R"({"type": "object", "maxProperties": 1})",
      // One that begins with "a" is no integer.
      R"({"type": "object",
          "not": {"patternProperties": {"^a": {"type": "integer"}}}})",
      R"({"type": "object", "not": {"properties": {"a": {"type": "null"}}}})",
      R"({"type": "object",
          "not": {"additionalProperties": {"type": "null"}}})",
      R"({"type": "object", "properties": {"a": {"type": "integer"}},
          "not": {"required": ["a"], "properties": {"a": {"const": 1}}}})"};
  for (const char* text : schemas) {
    SCOPED_TRACE(text);
    const auto grammar = Grammar::json_schema(text, {}, vocabulary);
    for (const char* begin : {"{\"", "{\"a", "{\"x", "{\"b\":1,\"",
                              "{\"ab\":1,\"", "{\"a\":1,\"a"}) {
      const auto whole = grammar->match();
      if (!whole->accept_bytes(begin)) continue;
      const TokenMask mask = whole->mask();
      for (size_t i = 0; i + 1 < vocabulary->size(); ++i) {
        const auto token = static_cast<int32_t>(i);
        const auto other = grammar->match();
        ASSERT_TRUE(other->accept_bytes(begin));
        EXPECT_EQ(mask.test(token),
                  other->accept_bytes(vocabulary->text(token)))
            << begin << " " << vocabulary->text(token);
      }
    }
  }
}

// As the specification says, "not" with "patternProperties" needs one property
// that does not conform.
TEST(KeyMasks, NegatedPatternsNeedOneMatchingProperty) {
  const auto vocabulary = vocabulary_of_keys();
  const auto token = [&](std::string_view text) {
    int32_t id = 0;
    while (vocabulary->text(id) != text) ++id;
    return id;
  };
  const auto matcher = Grammar::json_schema(R"({"type": "object",
          "not": {"patternProperties": {"^a": {"type": "integer"}}}})",
                                            {}, vocabulary)
                           ->match();
  ASSERT_TRUE(matcher->accept_bytes("{\""));
  EXPECT_TRUE(matcher->mask().test(token("ab\":null}")));
  EXPECT_TRUE(matcher->mask().test(token("b\":null")));
  EXPECT_FALSE(matcher->mask().test(token("b\":null}")));
  EXPECT_FALSE(matcher->mask().test(token("ab\":1}")));
}

}  // namespace
}  // namespace rc::text::grammar
