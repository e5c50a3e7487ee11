// Characters as Python's str sees them. Texts are well-formed UTF-8 here; what
// isn't counts as one U+FFFD for each ill-formed part.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "text/chat/text.h"

namespace rc::text::chat {

struct Character {
  size_t begin;  // byte in the text
  size_t size;   // bytes
  char32_t code_point;
};

// The characters of a text, one after the other: for (Character c : ...).
class CharacterRange {
 public:
  class Iterator {
   public:
    Iterator(std::string_view text, size_t at) : text_(text) { read(at); }
    const Character& operator*() const { return current_; }
    Iterator& operator++() {
      read(current_.begin + current_.size);
      return *this;
    }
    bool operator!=(const Iterator& other) const {
      return current_.begin != other.current_.begin;
    }

   private:
    void read(size_t at) {
      current_ = {at, 0, 0};
      if (at == text_.size()) return;
      const Utf8Char c = decode_utf8(text_.substr(at));
      current_.size = c.size;
      current_.code_point = c.code_point;
    }
    std::string_view text_;
    Character current_;
  };
  explicit CharacterRange(std::string_view text) : text_(text) {}
  Iterator begin() const { return Iterator(text_, 0); }
  Iterator end() const { return Iterator(text_, text_.size()); }

 private:
  std::string_view text_;
};

inline CharacterRange characters(std::string_view text) {
  return CharacterRange(text);
}
// The one that ends at byte `end`, which must not be 0.
Character character_before(std::string_view text, size_t end);

size_t count_characters(std::string_view text);
// The byte where a character begins; the end if there are fewer.
size_t byte_offset(std::string_view text, size_t character);

bool is_space(char32_t c);       // str.isspace()
bool is_letter(char32_t c);      // str.isalpha()
bool is_numeric(char32_t c);     // str.isnumeric()
bool is_digit_like(char32_t c);  // str.isdigit()
bool is_lower(char32_t c);
bool is_upper(char32_t c);
bool is_title(char32_t c);
bool is_printable(char32_t c);  // by repr()
bool is_word(char32_t c);       // \w
bool is_name_start(char32_t c);
bool is_line_break(char32_t c);  // for str.splitlines()
// 0 to 9 of a decimal digit of any script, otherwise -1.
int decimal_digit(char32_t c);

std::string_view strip_spaces(std::string_view text);

enum class Case { kUpper, kLower, kTitle, kFold, kSwap };
// One character's mapping, which may be several characters. `kLower` doesn't
// see the neighbours of a final sigma; to_case does.
void append_case(Case to, char32_t c, std::string* out);
// All of the text; what a character becomes keeps its origin.
Text to_case(Case to, const Text& text);
// str.title() and str.capitalize().
Text to_title(const Text& text);
Text to_capitalized(const Text& text);

}  // namespace rc::text::chat
