// Cuts the source of a template into tokens, with the blocks trimmed as chat
// templates are written for: trim_blocks and lstrip_blocks of Jinja are on, the
// newline at the end of the source is dropped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace rc::text::chat {

struct Position {
  uint32_t line = 1;
  uint32_t column = 1;  // in characters
};

enum class Token : uint8_t {
  kEnd,
  kData,  // text outside of tags
  kPrintBegin,
  kPrintEnd,
  kBlockBegin,
  kBlockEnd,
  kName,
  kString,
  kInt,
  kFloat,
  kOperator,
};

struct Lexeme {
  Token token = Token::kEnd;
  // The text, the name, the string's value or the operator.
  std::string text;
  int64_t integer = 0;
  double real = 0;
  Position at;
};

// The tokens, the last of them kEnd. Throws RC_E_FORMAT with the position.
std::vector<Lexeme> lex(std::string_view source);

// An error at a place of a template: "chat template, line 3, column 14: ...".
[[noreturn]] void fail_at(Position at, rc_status status,
                          std::string_view message);

}  // namespace rc::text::chat
