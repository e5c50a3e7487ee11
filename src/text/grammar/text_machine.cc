#include "text/grammar/text_machine.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace rc::text::grammar {

void TextModel::begin_with(ExprId expr) { begin_with({{expr, RuleSet::kEnd}}); }

void TextModel::begin_with(std::vector<TaggedExpr> parts) {
  start_ = lexer_.start(std::move(parts));
  if (start_ == kDeadLex) {
    fail(RC_E_INVALID_ARGUMENT, "grammar: no text matches");
  }
}

void TextModel::begin_with_rules(uint32_t root) {
  rules_.compile(root);
  begin_with(rules_.begin());
}

bool TextMachine::step(State* state, uint8_t byte) {
  char32_t c = 0;
  switch (decode_utf8_byte(byte, &state->partial, &c)) {
    case Decoded::kInvalid:
      return false;
    case Decoded::kPartial:
      return can_complete(&lexer(), state->lex, state->partial);
    case Decoded::kChar:
      break;
  }
  state->lex = lexer().step(state->lex, c);
  return state->lex != kDeadLex;
}

bool TextMachine::can_end(const State& state) const {
  const std::vector<uint32_t>& tags = lexer().accepted(state.lex);
  return state.partial.none() && !tags.empty() && tags[0] == RuleSet::kEnd;
}

bool TextMachine::refuses(const State& state, LexState lex,
                          uint8_t byte) const {
  return state.partial.none() && byte >= 128 && !lexer().goes_beyond_ascii(lex);
}

}  // namespace rc::text::grammar
