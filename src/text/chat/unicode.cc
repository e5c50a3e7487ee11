#include "text/chat/unicode.h"

#include <utf8proc.h>

#include <algorithm>

#include "text/chat/special_casing.h"

namespace rc::text::chat {
namespace {

utf8proc_category_t category(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

bool is_between(char32_t c, char32_t first, char32_t last) {
  return c >= first && c <= last;
}

bool is_cased(char32_t c) { return is_lower(c) || is_upper(c) || is_title(c); }

// Whether a sigma at byte `at` ends a word: a cased letter before it and none
// after it, signs such as apostrophes and marks aside (Unicode, Final_Sigma).
bool is_final_sigma(std::string_view text, const Character& sigma) {
  const auto is_ignorable = [](char32_t c) {
    const utf8proc_category_t kind = category(c);
    return kind == UTF8PROC_CATEGORY_MN || kind == UTF8PROC_CATEGORY_ME ||
           kind == UTF8PROC_CATEGORY_CF || kind == UTF8PROC_CATEGORY_LM ||
           kind == UTF8PROC_CATEGORY_SK || c == '\'' || c == '.' || c == ':' ||
           c == 0xB7 || c == 0x2018 || c == 0x2019 || c == 0x2024 ||
           c == 0x2027;
  };
  bool cased_before = false;
  for (size_t end = sigma.begin; end > 0;) {
    const Character c = character_before(text, end);
    end = c.begin;
    if (is_ignorable(c.code_point)) continue;
    cased_before = is_cased(c.code_point);
    break;
  }
  if (!cased_before) return false;
  for (const Character& c : characters(text.substr(sigma.begin + sigma.size))) {
    if (is_ignorable(c.code_point)) continue;
    return !is_cased(c.code_point);
  }
  return true;
}

// As many characters of a sigma's neighbours as are looked at for sure.
constexpr size_t kSigmaReach = 64;

void append_lower(std::string_view text, const Character& c, std::string* out) {
  if (c.code_point == 0x3A3) {
    const size_t begin = c.begin - std::min(c.begin, kSigmaReach);
    size_t from = begin;
    while (from < c.begin && (text[from] & 0xC0) == 0x80) ++from;
    const std::string_view near =
        text.substr(from, c.begin - from + c.size + kSigmaReach);
    const bool is_final =
        is_final_sigma(near, {c.begin - from, c.size, c.code_point});
    append_utf8(is_final ? 0x3C2 : 0x3C3, out);
    return;
  }
  append_case(Case::kLower, c.code_point, out);
}

// ASCII with no character that changes its length.
Text ascii_case(Case to, const Text& text) {
  std::string mapped = text.bytes();
  for (char& c : mapped) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool lower = c >= 'a' && c <= 'z';
    if ((upper && (to == Case::kLower || to == Case::kFold)) ||
        (lower && to == Case::kUpper) ||
        ((upper || lower) && to == Case::kSwap)) {
      c = static_cast<char>(c ^ 0x20);
    }
  }
  Text out;
  size_t at = 0;
  for (const Span& span : text.content()) {
    out.append(std::string_view(mapped).substr(at, span.begin - at),
               Origin::kTemplate);
    out.append(
        std::string_view(mapped).substr(span.begin, span.end - span.begin),
        Origin::kContent);
    at = span.end;
  }
  out.append(std::string_view(mapped).substr(at), Origin::kTemplate);
  return out;
}

// Appends the result of `map` for each character, with the character's origin.
template <class Map>
Text map_characters(const Text& text, Map map) {
  Text out;
  OriginCursor origins(text);
  std::string mapped;
  for (const Character& c : characters(text.bytes())) {
    mapped.clear();
    map(c, &mapped);
    out.append(mapped, origins.at(c.begin));
  }
  return out;
}

}  // namespace

Character character_before(std::string_view text, size_t end) {
  size_t begin = end - 1;
  while (begin > 0 && end - begin < 4 && (text[begin] & 0xC0) == 0x80) --begin;
  const Utf8Char c = decode_utf8(text.substr(begin, end - begin));
  if (begin + c.size == end) return {begin, c.size, c.code_point};
  return {end - 1, 1, kReplacement};
}

size_t count_characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

size_t byte_offset(std::string_view text, size_t character) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if ((text[at] & 0xC0) != 0x80 && character-- == 0) break;
  }
  return at;
}

bool is_space(char32_t c) {
  if (c < 0x80)
    return c == ' ' || is_between(c, 9, 13) || is_between(c, 28, 31);
  const utf8proc_category_t kind = category(c);
  return c == 0x85 || kind == UTF8PROC_CATEGORY_ZS ||
         kind == UTF8PROC_CATEGORY_ZL || kind == UTF8PROC_CATEGORY_ZP;
}

bool is_letter(char32_t c) {
  return is_between(category(c), UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LO);
}

bool is_numeric(char32_t c) {
  return is_between(category(c), UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO);
}

bool is_digit_like(char32_t c) {
  if (category(c) == UTF8PROC_CATEGORY_ND) return true;
  // Numeric_Type=Digit: superscripts, subscripts, circled and the like.
  return c == 0xB2 || c == 0xB3 || c == 0xB9 || is_between(c, 0x1369, 0x1371) ||
         c == 0x19DA || c == 0x2070 || is_between(c, 0x2074, 0x2079) ||
         is_between(c, 0x2080, 0x2089) || is_between(c, 0x2460, 0x2468) ||
         is_between(c, 0x2474, 0x247C) || is_between(c, 0x2488, 0x2490) ||
         c == 0x24EA || is_between(c, 0x24F5, 0x24FD) || c == 0x24FF ||
         is_between(c, 0x2776, 0x277E) || is_between(c, 0x2780, 0x2788) ||
         is_between(c, 0x278A, 0x2792) || is_between(c, 0x10A40, 0x10A43) ||
         is_between(c, 0x10E60, 0x10E68) || is_between(c, 0x11052, 0x1105A) ||
         is_between(c, 0x1F100, 0x1F10A);
}

bool is_lower(char32_t c) {
  // Other_Lowercase of the Latin-1 block.
  return category(c) == UTF8PROC_CATEGORY_LL || c == 0xAA || c == 0xBA;
}
bool is_upper(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LU; }
bool is_title(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LT; }

bool is_printable(char32_t c) {
  if (c < 0x7F) return c >= ' ';
  const utf8proc_category_t kind = category(c);
  return !(kind == UTF8PROC_CATEGORY_CN ||
           is_between(kind, UTF8PROC_CATEGORY_ZS, UTF8PROC_CATEGORY_CO));
}

bool is_word(char32_t c) { return c == '_' || is_letter(c) || is_numeric(c); }

bool is_name_start(char32_t c) {
  return c == '_' || is_letter(c) || category(c) == UTF8PROC_CATEGORY_NL;
}

bool is_line_break(char32_t c) {
  return is_between(c, 10, 13) || is_between(c, 28, 30) || c == 0x85 ||
         c == 0x2028 || c == 0x2029;
}

int decimal_digit(char32_t c) {
  if (c < 0x80) return is_between(c, '0', '9') ? static_cast<int>(c - '0') : -1;
  if (category(c) != UTF8PROC_CATEGORY_ND) return -1;
  // The digits of a script are ten neighbours; those of mathematical alphabets
  // begin at 1D7CE.
  if (is_between(c, 0x1D7CE, 0x1D7FF)) {
    return static_cast<int>((c - 0x1D7CE) % 10);
  }
  char32_t zero = c;
  while (c - zero < 9 && category(zero - 1) == UTF8PROC_CATEGORY_ND) --zero;
  return static_cast<int>(c - zero);
}

std::string_view strip_spaces(std::string_view text) {
  while (!text.empty()) {
    const Utf8Char c = decode_utf8(text);
    if (!is_space(c.code_point)) break;
    text.remove_prefix(c.size);
  }
  while (!text.empty()) {
    const Character c = character_before(text, text.size());
    if (!is_space(c.code_point)) break;
    text.remove_suffix(c.size);
  }
  return text;
}

void append_case(Case to, char32_t c, std::string* out) {
  if (to == Case::kSwap) {
    to = is_upper(c) ? Case::kLower : is_lower(c) ? Case::kUpper : to;
    if (to == Case::kSwap) return append_utf8(c, out);
  }
  const auto code_point = static_cast<utf8proc_int32_t>(c);
  if (to == Case::kLower) {
    // The only character of which this is two.
    if (c == 0x130) {
      out->append("i\u0307");
      return;
    }
    append_utf8(static_cast<char32_t>(utf8proc_tolower(code_point)), out);
    return;
  }
  if (const SpecialCase* special = find_special_case(c)) {
    out->append(to == Case::kUpper   ? special->upper
                : to == Case::kTitle ? special->title
                                     : special->folded);
    return;
  }
  utf8proc_int32_t mapped = code_point;
  if (to == Case::kUpper) {
    mapped = utf8proc_toupper(code_point);
  } else if (to == Case::kTitle) {
    mapped = utf8proc_totitle(code_point);
  } else {
    utf8proc_int32_t folded[4];
    int boundary = 0;
    if (utf8proc_decompose_char(code_point, folded, 4, UTF8PROC_CASEFOLD,
                                &boundary) == 1) {
      mapped = folded[0];
    }
  }
  append_utf8(static_cast<char32_t>(mapped), out);
}

Text to_case(Case to, const Text& text) {
  const bool ascii = std::all_of(text.bytes().begin(), text.bytes().end(),
                                 [](char c) { return (c & 0x80) == 0; });
  if (ascii) return ascii_case(to, text);
  return map_characters(text, [&](const Character& c, std::string* out) {
    if (to == Case::kLower || (to == Case::kSwap && c.code_point == 0x3A3)) {
      append_lower(text.bytes(), c, out);
    } else {
      append_case(to, c.code_point, out);
    }
  });
}

Text to_title(const Text& text) {
  bool after_cased = false;
  return map_characters(text, [&](const Character& c, std::string* out) {
    if (after_cased) {
      append_lower(text.bytes(), c, out);
    } else {
      append_case(Case::kTitle, c.code_point, out);
    }
    after_cased = is_cased(c.code_point);
  });
}

Text to_capitalized(const Text& text) {
  return map_characters(text, [&](const Character& c, std::string* out) {
    if (c.begin == 0) {
      append_case(Case::kTitle, c.code_point, out);
    } else {
      append_lower(text.bytes(), c, out);
    }
  });
}

}  // namespace rc::text::chat
