// Regular expressions of ECMA-262, without backreferences, which are not
// regular, and without lookbehind.
#pragma once

#include <string_view>

#include "text/grammar/expr.h"

namespace rc::text::grammar {

struct RegexOptions {
  // Whether the expression may match anywhere in the text, as `pattern` of JSON
  // Schema does, or has to match all of it.
  bool search = false;
  // Whether it may look ahead; the text ends where the rest of it does.
  bool lookahead = false;
  bool ignore_case = false;
  bool dot_matches_newline = false;
};

// Returns an expression of the pool for the texts that match. The syntax is
// that of JavaScript without the flag "v"; \d, \w and \b are of ASCII, \s and
// \p{..} of Unicode. Lazy quantifiers match the same texts as greedy ones.
// Throws RC_E_INVALID_ARGUMENT if the pattern is malformed and RC_E_UNSUPPORTED
// if it uses an unsupported construct, with the place in the pattern.
ExprId parse_regex(std::string_view pattern, const RegexOptions& options,
                   ExprPool* pool);

}  // namespace rc::text::grammar
