// Regular expressions written for Oniguruma (Ruby's syntax, in UTF-8), as those
// in tokenizer.json are, in the syntax of PCRE2.
#pragma once

#include <string>
#include <string_view>

#include "text/regex.h"

namespace rc::text {

// Set differences between the two: \s, \w, \b, \h, POSIX classes, scripts by
// name (the property Script), $ and ^ (always at lines), (?m), \uHHHH, {,n},
// and within classes nested classes and intersections. Throws RC_E_UNSUPPORTED
// with the pattern and the byte for what can't be said in PCRE2; `where` begins
// the message.
std::string pcre2_pattern(std::string_view onig, std::string_view where);

Regex onig_regex(std::string_view onig, std::string_view where);

// The pattern that matches this text and no other.
std::string literal_pattern(std::string_view text);

}  // namespace rc::text
