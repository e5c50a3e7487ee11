// Reads the text of a grammar from left to right and says where it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace rc::text::grammar {

class RuleReader {
 public:
  explicit RuleReader(std::string_view text) : text_(text) {}

  bool done() const { return at_ >= text_.size(); }
  size_t at() const { return at_; }
  // The next byte, or another one further on; 0 beyond the end.
  char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool take(std::string_view expected);
  // The next byte; there must be one.
  char next() { return text_[at_++]; }
  void skip(size_t bytes) { at_ += bytes; }
  void go_to(size_t at) { at_ = at; }
  // The text read since then.
  std::string_view since(size_t from) const {
    return text_.substr(from, at_ - from);
  }
  // The next character as a code point. Throws if it is not UTF-8.
  char32_t character();
  // The character that an escape stands for in a literal, after its backslash
  // was read: \n, \r, \t, \f, \v, \b, \0, \xHH, \uHHHH, \UHHHHHHHH, \u{H..}, or
  // the character itself if it is no letter or digit.
  char32_t escape();
  // A number, if one comes next. Throws beyond a million.
  std::optional<uint32_t> number();

  template <class... Parts>
  [[noreturn]] void malformed(const Parts&... parts) const {
    refuse(RC_E_INVALID_ARGUMENT, cat(parts...));
  }
  template <class... Parts>
  [[noreturn]] void unsupported(const Parts&... parts) const {
    refuse(RC_E_UNSUPPORTED, cat(parts...));
  }
  // Calls function(), and says in its errors where they come from.
  template <class Function>
  auto here(Function function) const {
    try {
      return function();
    } catch (const Error& error) {
      refuse(error.status(), error.message());
    }
  }

 private:
  [[noreturn]] void refuse(rc_status status, const std::string& what) const;
  char32_t hex(size_t digits);

  std::string_view text_;
  size_t at_ = 0;
};

// Whether a byte may be part of a name: letters, digits and '_'.
bool is_name_byte(char c);

}  // namespace rc::text::grammar
