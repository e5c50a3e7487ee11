// Reads the parts of a regular expression that represent characters: escapes
// and classes.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "text/grammar/char_set.h"

namespace rc::text::grammar {

// Reads a pattern from left to right.
class PatternReader {
 public:
  explicit PatternReader(std::string_view pattern) : pattern_(pattern) {}

  bool done() const { return at_ >= pattern_.size(); }
  size_t at() const { return at_; }
  void go_to(size_t at) { at_ = at; }
  // The next byte, or 0 at the end.
  char peek() const { return done() ? '\0' : pattern_[at_]; }
  bool take(std::string_view text);
  // The next character. Throws if it is not valid UTF-8.
  char32_t character();

  // Reads an escape after its backslash: one character or many.
  CharSet escape(bool in_class);
  // A class, after its '['.
  CharSet character_class();

  template <class... Parts>
  [[noreturn]] void malformed(const Parts&... parts) const {
    refuse(RC_E_INVALID_ARGUMENT, cat(parts...));
  }
  template <class... Parts>
  [[noreturn]] void unsupported(const Parts&... parts) const {
    refuse(RC_E_UNSUPPORTED, cat(parts...));
  }

 private:
  [[noreturn]] void refuse(rc_status status, const std::string& what) const;
  std::optional<char32_t> hex(size_t digits);
  char32_t unicode_escape();
  CharSet property(bool negated);

  std::string_view pattern_;
  size_t at_ = 0;
};

}  // namespace rc::text::grammar
