// Hashes of texts that grow byte by byte. Choosing the texts does not help to
// make two of them collide: the base is drawn when the process first needs it.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

namespace rc::text::grammar {

// Two polynomials over the field of 2^61 - 1 elements.
class TextHash {
 public:
  // The hash of the text with these bytes behind it.
  TextHash after(std::string_view bytes) const;
  TextHash after(uint64_t number) const;
  // The hash with a whole text behind it, several bytes at once.
  TextHash after_whole(std::string_view text) const;

  auto operator<=>(const TextHash&) const = default;

 private:
  void add(uint64_t value);  // less than the prime

  uint64_t first_ = 1;
  uint64_t second_ = 1;
};

}  // namespace rc::text::grammar
