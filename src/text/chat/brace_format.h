// str.format() of Python.
#pragma once

#include "text/chat/builtins.h"

namespace rc::text::chat {

Value brace_format(Interpreter* interpreter, const Value& format,
                   const Arguments& arguments);

}  // namespace rc::text::chat
