// Grammars in the notation of Lark.
#pragma once

#include <string_view>

#include "text/grammar/rule_set.h"

namespace rc::text::grammar {

// Reads the rules into the set and gives the one to begin with, of texts of
// "start" with what is ignored. Understands rules and terminals, alternatives,
// groups, [optional parts], strings, regular expressions with the flags i and
// s, ranges "a".."z", the repetitions * + ? ~n ~n..m, aliases (which change no
// texts), priorities (likewise), %ignore, %import of common terminals, and
// comments. A rule may begin with itself directly. What texts are cut into does
// not matter: any way to match counts, not only that with the longest
// terminals. Everything else is refused: RC_E_INVALID_ARGUMENT and
// RC_E_UNSUPPORTED with line and column.
uint32_t parse_lark(std::string_view text, ExprPool* pool, RuleSet* rules);

}  // namespace rc::text::grammar
