#include "text/chat/replies/json_scanner.h"

namespace rc::text::chat {
namespace {

constexpr size_t kMostOpen = 200;

bool is_json_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool is_json_digit(char c) { return c >= '0' && c <= '9'; }

bool is_json_hex(char c) {
  return is_json_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

}  // namespace

JsonScanner::Result JsonScanner::feed(char c) {
  bool good = false;
  switch (state_) {
    case State::kString:
    case State::kEscape:
    case State::kHex:
    case State::kLiteral:
      good = in_text(c);
      break;
    case State::kMinus:
    case State::kZero:
    case State::kInteger:
    case State::kPoint:
    case State::kFraction:
    case State::kExponent:
    case State::kExponentSign:
    case State::kExponentDigits:
      good = in_number(c);
      break;
    default:
      if (is_json_space(c)) return Result::kMore;
      if (state_ == State::kColon) {
        good = c == ':';
        state_ = State::kValue;
      } else if (state_ == State::kNext) {
        good = next(c);
      } else if (state_ == State::kKey || state_ == State::kFirstKey) {
        good = key(c);
      } else {
        good = value(c);
      }
  }
  if (!good) return Result::kBad;
  return open_.empty() ? Result::kDone : Result::kMore;
}

bool JsonScanner::open(char c) {
  if (open_.size() >= kMostOpen) return false;
  open_ += c;
  state_ = c == '{' ? State::kFirstKey : State::kFirstElement;
  return true;
}

bool JsonScanner::close(char c) {
  if (open_.empty() || open_.back() != (c == '}' ? '{' : '[')) return false;
  open_.pop_back();
  state_ = State::kNext;
  return true;
}

bool JsonScanner::value(char c) {
  if (c == '{' || c == '[') return open(c);
  if (open_.empty()) return false;
  if (c == ']') return state_ == State::kFirstElement && close(c);
  if (c == '"') {
    string_is_key_ = false;
    state_ = State::kString;
    return true;
  }
  if (c == '-' || is_json_digit(c)) {
    state_ = c == '-'   ? State::kMinus
             : c == '0' ? State::kZero
                        : State::kInteger;
    return true;
  }
  state_ = State::kLiteral;
  literal_ = c == 't' ? "rue" : c == 'f' ? "alse" : c == 'n' ? "ull" : "";
  return *literal_ != '\0';
}

bool JsonScanner::key(char c) {
  if (c == '}') return state_ == State::kFirstKey && close(c);
  string_is_key_ = true;
  state_ = State::kString;
  return c == '"';
}

bool JsonScanner::next(char c) {
  if (c != ',') return (c == '}' || c == ']') && close(c);
  state_ = open_.back() == '{' ? State::kKey : State::kValue;
  return true;
}

bool JsonScanner::in_text(char c) {
  switch (state_) {
    case State::kLiteral:
      if (*literal_ != c) return false;
      if (*++literal_ == '\0') state_ = State::kNext;
      return true;
    case State::kEscape:
      hex_digits_ = 0;
      state_ = c == 'u' ? State::kHex : State::kString;
      return c == 'u' || std::string("\"\\/bfnrt").find(c) != std::string::npos;
    case State::kHex:
      if (++hex_digits_ == 4) state_ = State::kString;
      return is_json_hex(c);
    default:
      if (c == '\\') {
        state_ = State::kEscape;
      } else if (c == '"') {
        state_ = string_is_key_ ? State::kColon : State::kNext;
      }
      return loose_ || static_cast<unsigned char>(c) >= 0x20;
  }
}

bool JsonScanner::in_number(char c) {
  const bool digit = is_json_digit(c);
  const bool exponent = c == 'e' || c == 'E';
  switch (state_) {
    case State::kMinus:
      state_ = c == '0' ? State::kZero : State::kInteger;
      return digit;
    case State::kPoint:
      state_ = State::kFraction;
      return digit;
    case State::kExponent:
      state_ = digit ? State::kExponentDigits : State::kExponentSign;
      return digit || c == '+' || c == '-';
    case State::kExponentSign:
      state_ = State::kExponentDigits;
      return digit;
    default:
      break;
  }
  // The number may end here.
  if (digit && state_ != State::kZero) return true;
  const bool whole = state_ == State::kZero || state_ == State::kInteger;
  if (c == '.' && whole) {
    state_ = State::kPoint;
    return true;
  }
  if (exponent && state_ != State::kExponentDigits) {
    state_ = State::kExponent;
    return true;
  }
  state_ = State::kNext;
  return is_json_space(c) || next(c);
}

}  // namespace rc::text::chat
