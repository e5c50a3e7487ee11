#include "text/tokenizer_json/characters.h"

#include <utf8proc.h>

namespace rc::text {
namespace {

utf8proc_category_t category_of(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

bool within(char32_t c, char32_t first, char32_t last) {
  return c >= first && c <= last;
}

}  // namespace

bool is_white_space(char32_t c) {
  return within(c, 9, 13) || c == ' ' || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || within(c, 0x2000, 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_any_punctuation(char32_t c) {
  if (c < 0x80) {
    return within(c, '!', '/') || within(c, ':', '@') || within(c, '[', '`') ||
           within(c, '{', '~');
  }
  const utf8proc_category_t category = category_of(c);
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

bool is_any_number(char32_t c) {
  const utf8proc_category_t category = category_of(c);
  return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

bool is_any_mark(char32_t c) {
  const utf8proc_category_t category = category_of(c);
  return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

bool is_nonspacing_mark(char32_t c) {
  return category_of(c) == UTF8PROC_CATEGORY_MN;
}

bool is_bert_control(char32_t c) {
  if (c == '\t' || c == '\n' || c == '\r') return false;
  const utf8proc_category_t category = category_of(c);
  return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
         category == UTF8PROC_CATEGORY_CO;
}

bool is_bert_chinese(char32_t c) {
  return within(c, 0x4E00, 0x9FFF) || within(c, 0x3400, 0x4DBF) ||
         within(c, 0x20000, 0x2A6DF) || within(c, 0x2A700, 0x2B73F) ||
         within(c, 0x2B740, 0x2B81F) || within(c, 0x2B920, 0x2CEAF) ||
         within(c, 0xF900, 0xFAFF) || within(c, 0x2F800, 0x2FA1F);
}

bool is_word_character(char32_t c) {
  const utf8proc_category_t category = category_of(c);
  switch (category) {
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    case UTF8PROC_CATEGORY_SO:  // letters in circles and squares
      return within(c, 0x24B6, 0x24E9) || within(c, 0x1F130, 0x1F149) ||
             within(c, 0x1F150, 0x1F169) || within(c, 0x1F170, 0x1F189);
    default:
      return c == 0x200C || c == 0x200D ||
             (category >= UTF8PROC_CATEGORY_LU &&
              category <= UTF8PROC_CATEGORY_ME);
  }
}

}  // namespace rc::text
