// Hexadecimal digits of bytes that are written as text.
#pragma once

namespace rc::text {

// The value of a hexadecimal digit of either case; -1 for another character.
inline int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace rc::text
