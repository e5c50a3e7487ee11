// Follows JSON byte by byte (RFC 8259), to know where a value ends and that it
// is one before the rest is there.
#pragma once

#include <cstddef>
#include <string>

namespace rc::text::chat {

class JsonScanner {
 public:
  // `loose`: strings may have control characters, which models write.
  explicit JsonScanner(bool loose = false) : loose_(loose) {}

  enum class Result : unsigned char { kMore, kDone, kBad };

  // The next byte of an object or an array, spaces before it included. kDone:
  // it was the last one. kBad: it cannot be the next one, or more than 200
  // values are open.
  Result feed(char c);

  // Objects and arrays that are open.
  size_t depth() const { return open_.size(); }
  bool in_string() const {
    return state_ == State::kString || state_ == State::kEscape ||
           state_ == State::kHex;
  }
  // Whether the string that is open, or was last, is the key of a member.
  bool string_is_key() const { return string_is_key_; }

 private:
  enum class State : unsigned char {
    kValue,
    kFirstElement,  // or the end of the array
    kFirstKey,      // or the end of the object
    kKey,
    kColon,
    kNext,  // a comma, or the end
    kString,
    kEscape,
    kHex,
    kLiteral,
    kMinus,
    kZero,
    kInteger,
    kPoint,
    kFraction,
    kExponent,
    kExponentSign,
    kExponentDigits,
  };

  bool value(char c);
  bool next(char c);
  bool key(char c);
  bool in_text(char c);
  bool in_number(char c);
  bool open(char c);
  bool close(char c);

  bool loose_;
  State state_ = State::kValue;
  std::string open_;  // '{' and '['
  bool string_is_key_ = false;
  int hex_digits_ = 0;
  const char* literal_ = "";  // what is left of it
};

}  // namespace rc::text::chat
