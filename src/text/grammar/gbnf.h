// Grammars in GBNF, the notation of llama.cpp.
#pragma once

#include <string_view>

#include "text/grammar/rule_set.h"

namespace rc::text::grammar {

// Reads the rules into the set and gives the one named "root". Understands
// rules with ::=, alternatives, groups, literals, classes of characters, '.',
// the repetitions * + ? {m} {m,} {,n} {m,n}, and comments. Tokens (<..>) are
// refused, and so is a rule that begins with itself. Throws
// RC_E_INVALID_ARGUMENT and RC_E_UNSUPPORTED with line and column.
uint32_t parse_gbnf(std::string_view text, ExprPool* pool, RuleSet* rules);

}  // namespace rc::text::grammar
