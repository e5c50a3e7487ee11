// Values as text: str() and repr() of Python.
#pragma once

#include <string>

#include "text/chat/containers.h"
#include "text/chat/value.h"

namespace rc::text::chat {

// str(value): a string is itself, undefined is nothing.
void write_str(Writer* out, const Value& value);
// repr(value)
void write_repr(Writer* out, const Value& value);
// str(value) as a string; one that is a string already stays what it is, a safe
// one too.
Value to_string(Budget* budget, const Value& value);
// A string with & < > ' " escaped for HTML, safe from then on.
Value escape_html(Budget* budget, const Value& value);

}  // namespace rc::text::chat
