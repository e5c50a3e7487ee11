// A part of a text.
#pragma once

#include <cstddef>

namespace rc::text {

// Bytes [begin, end) of a text.
struct Span {
  size_t begin;
  size_t end;
  bool operator==(const Span&) const = default;
};

}  // namespace rc::text
