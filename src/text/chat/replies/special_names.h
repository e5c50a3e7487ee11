// The marks that distinguish names of special tokens from the same text: bytes
// that are in no UTF-8.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "text/grammar/token_vocabulary.h"

namespace rc::text::chat {

using grammar::kSpecialMark;

std::string special_name(std::string_view name);

// A mark of a format as it is looked for: its special tokens as above.
std::string with_special_names(
    std::string_view mark,
    const std::function<bool(std::string_view)>& is_special);

std::string without_marks_of_special(std::string_view text);

}  // namespace rc::text::chat
