// Methods of strings by what they do; string_methods.cc has the table of their
// names.
#pragma once

#include "text/chat/builtins.h"

namespace rc::text::chat {

// Questions about a string.
Value string_count(Call& call);
Value string_endswith(Call& call);
Value string_find(Call& call);
Value string_index(Call& call);
Value string_isalnum(Call& call);
Value string_isalpha(Call& call);
Value string_isascii(Call& call);
Value string_isdecimal(Call& call);
Value string_isdigit(Call& call);
Value string_isidentifier(Call& call);
Value string_islower(Call& call);
Value string_isnumeric(Call& call);
Value string_isprintable(Call& call);
Value string_isspace(Call& call);
Value string_istitle(Call& call);
Value string_isupper(Call& call);
Value string_rfind(Call& call);
Value string_rindex(Call& call);
Value string_startswith(Call& call);

}  // namespace rc::text::chat
