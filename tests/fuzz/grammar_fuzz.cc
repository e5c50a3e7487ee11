// Grammars from strangers: whatever they are, they are compiled or refused, and
// what masks allow is accepted.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "small_stack.h"
#include "text/grammar/grammar.h"

namespace {

using rc::text::grammar::Grammar;
using rc::text::grammar::JsonOptions;
using rc::text::grammar::TextOptions;
using rc::text::grammar::TokenMask;
using rc::text::grammar::TokenVocabulary;
using rc::text::grammar::VocabularyIndex;

void check(bool holds) {
  if (!holds) __builtin_trap();
}

const std::shared_ptr<const VocabularyIndex>& vocabulary() {
  static const auto kVocabulary = [] {
    TokenVocabulary made;
    for (int byte = 0; byte < 256; ++byte) {
      made.tokens.emplace_back(1, static_cast<char>(byte));
    }
    for (const char* token : {"{\"", "\":", "\", \"", "\"}", "]}", "true", "ab",
                              "\\u00", "\xC3\xA9", "[[", "  "}) {
      made.tokens.emplace_back(token);
    }
    made.tokens.emplace_back();
    made.ends = {static_cast<int32_t>(made.tokens.size() - 1)};
    return std::make_shared<const VocabularyIndex>(std::move(made));
  }();
  return kVocabulary;
}

std::shared_ptr<const Grammar> compile(uint8_t kind, std::string_view text) {
  TextOptions options;
  options.max_expressions = 20'000;
  options.max_lex_states = 5'000;
  options.rules.max_symbols = 5'000;
  options.rules.max_stacks = 10'000;
  options.rules.max_depth = 50;
  JsonOptions json;
  json.max_expressions = options.max_expressions;
  json.max_lex_states = options.max_lex_states;
  json.limits.max_steps = 20'000;
  json.limits.max_schemas = 5'000;
  switch (kind % 4) {
    case 0:
      return Grammar::json_schema(text, json, vocabulary());
    case 1:
      return Grammar::regex(text, options, vocabulary());
    case 2:
      return Grammar::gbnf(text, options, vocabulary());
    default:
      return Grammar::lark(text, options, vocabulary());
  }
}

// Follows the masks where the bytes point.
void follow(const Grammar& grammar, std::string_view choices) {
  const auto matcher = grammar.match();
  for (const char choice : choices) {
    const TokenMask mask = matcher->mask();
    const size_t size = vocabulary()->size();
    for (size_t i = 0; i < size; ++i) {
      const auto token =
          static_cast<int32_t>((i + static_cast<uint8_t>(choice)) % size);
      if (!mask.test(token)) {
        check(!matcher->clone()->accept(token));
        continue;
      }
      check(matcher->accept(token));
      break;
    }
    if (matcher->ended()) return;
  }
}

void run_input(const uint8_t* data, size_t size) {
  if (size < 2 || size > 4096) return;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 2,
                              size - 2);
  const size_t choices = std::min<size_t>(data[1] % 32, rest.size());
  try {
    const auto grammar = compile(data[0], rest.substr(choices));
    follow(*grammar, rest.substr(0, choices));
  } catch (const rc::Error& error) {
    check(error.status() == RC_E_INVALID_ARGUMENT ||
          error.status() == RC_E_UNSUPPORTED);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  rc::fuzz::on_small_stack([&] { run_input(data, size); });
  return 0;
}
