// The values of JSON Schema's keyword "format".
#pragma once

#include <optional>
#include <string_view>

#include "text/grammar/lexical_set.h"

namespace rc::text::grammar {

// The strings of a format, or nothing if the format is not one of JSON Schema's
// (such ones assert nothing). Throws RC_E_UNSUPPORTED for those that are not
// regular: idn-hostname.
//
// Of "regex" only simple expressions are accepted, of leap seconds those at
// 23:59:60 UTC written with the offset Z or zero, of host names none that only
// the rules of international names (RFC 5890) distinguish from others.
std::optional<LexicalSet> find_format(std::string_view name, ExprPool* pool);

}  // namespace rc::text::grammar
