// A small vocabulary and texts for the tests of grammars.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "test_data.h"
#include "text/grammar/grammar.h"

namespace rc::text::grammar {

// All bytes, and tokens that are cut across the syntax of JSON and across
// characters.
inline std::shared_ptr<const VocabularyIndex> small_vocabulary() {
  static const auto kVocabulary = [] {
    TokenVocabulary vocabulary;
    for (int byte = 0; byte < 256; ++byte) {
      vocabulary.tokens.emplace_back(1, static_cast<char>(byte));
    }
    for (const char* token :
         {"{\"",  "\":",      "\": ",     "\", \"",    ", ",           "\"}",
          "}}",   "]}",       "a\":",     "a\": ",     "\"a\":",       "\"b",
          "true", "tr",       "null",     "ab",        "abc",          "aab",
          "  ",   "\n\n",     "\n  ",     "[1",        ", 2",          "12",
          "0.",   ".5",       "1e",       "\\u00",     "\\ud83d",      "\\n",
          "\xC3", "\xC3\xA9", "\x98\x80", "x\"y",      "\\\"",         "a\\",
          "],[",  "[[",       "\"\"",     "a\xF0\x9F", "b\", \"a\": 1"}) {
      vocabulary.tokens.emplace_back(token);
    }
    vocabulary.tokens.emplace_back("");  // special
    vocabulary.tokens.emplace_back("");
    vocabulary.ends = {static_cast<int32_t>(vocabulary.tokens.size() - 1)};
    return std::make_shared<const VocabularyIndex>(std::move(vocabulary));
  }();
  return kVocabulary;
}

// The message of the error that a call throws; "": it throws none.
template <class Function>
std::string message_of(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error.message();
  }
  return {};
}

inline int32_t end_token() { return small_vocabulary()->ends()[0]; }

// The token that the text begins with; with `longest`, the longest one.
inline int32_t first_token(std::string_view text, bool longest) {
  const VocabularyIndex& vocabulary = *small_vocabulary();
  int32_t best = static_cast<uint8_t>(text[0]);
  for (size_t i = 256; longest && i < vocabulary.size(); ++i) {
    const std::string& token = vocabulary.text(static_cast<int32_t>(i));
    if (text.starts_with(token) &&
        token.size() > vocabulary.text(best).size()) {
      best = static_cast<int32_t>(i);
    }
  }
  return best;
}

// Whether masks allow the text, token by token, and its end.
inline bool follows(const Grammar& grammar, std::string_view text,
                    bool longest) {
  const std::unique_ptr<Matcher> matcher = grammar.match();
  while (!text.empty()) {
    const int32_t token = first_token(text, longest);
    const bool allowed = matcher->mask().test(token);
    EXPECT_EQ(matcher->accept(token), allowed) << text;
    if (!allowed) return false;
    text.remove_prefix(small_vocabulary()->text(token).size());
  }
  const bool ends = matcher->mask().test(end_token());
  EXPECT_EQ(matcher->can_end(), ends);
  return ends;
}

inline bool accepts(const Grammar& grammar, std::string_view text) {
  const bool allowed = follows(grammar, text, true);
  EXPECT_EQ(follows(grammar, text, false), allowed) << text;
  return allowed;
}

inline void expect_texts(const Grammar& grammar,
                         const std::vector<std::string_view>& accepted,
                         const std::vector<std::string_view>& refused) {
  for (const auto text : accepted) EXPECT_TRUE(accepts(grammar, text)) << text;
  for (const auto text : refused) EXPECT_FALSE(accepts(grammar, text)) << text;
}

inline std::shared_ptr<const Grammar> gbnf(std::string_view text,
                                           const TextOptions& options) {
  return Grammar::gbnf(text, options, small_vocabulary());
}
inline std::shared_ptr<const Grammar> gbnf(std::string_view text) {
  return gbnf(text, {});
}

inline std::shared_ptr<const Grammar> lark(std::string_view text) {
  return Grammar::lark(text, {}, small_vocabulary());
}

inline std::shared_ptr<const Grammar> schema(std::string_view text,
                                             const JsonOptions& options = {}) {
  return Grammar::json_schema(text, options, small_vocabulary());
}

// The message of the error that the call throws, with its status.
template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_TRUE(error.status() == RC_E_INVALID_ARGUMENT ||
                error.status() == RC_E_UNSUPPORTED);
    return error.message();
  }
  return "no error";
}

inline nlohmann::json read_json(const std::filesystem::path& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file);
}

}  // namespace rc::text::grammar
