// Classes of characters as the tokenizers package sees them.
#pragma once

#include <cstdint>
#include <string_view>

namespace rc::text {

// The property White_Space.
bool is_white_space(char32_t c);
// ASCII's punctuation and symbols, and the categories P of all else.
bool is_any_punctuation(char32_t c);
// The categories N.
bool is_any_number(char32_t c);
// The categories M.
bool is_any_mark(char32_t c);
bool is_nonspacing_mark(char32_t c);
// The characters that BERT leaves out: categories Cc, Cf and Co but tab and
// line breaks.
bool is_bert_control(char32_t c);
bool is_bert_chinese(char32_t c);
// \w of regular expressions: letters, marks, decimal digits, connectors and
// joiners.
bool is_word_character(char32_t c);

}  // namespace rc::text
