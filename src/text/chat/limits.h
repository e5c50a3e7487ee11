// The limits of a template. Templates are untrusted: parsing and rendering end
// soon and take little memory, whatever the text is.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rc::text::chat {

struct Limits {
  // Bytes of a template's source.
  size_t source_bytes = size_t{1} << 20;
  // Levels of brackets and blocks within each other. Parsing and rendering take
  // up to 256 KB of the caller's stack with the numbers here, in proportion
  // with others; see base/deep_stack.h.
  size_t nesting = 100;
  // Levels of evaluations and calls within each other, and of values.
  size_t depth = 400;
  // Evaluations of expressions, elements and pieces of 64 bytes handled. A
  // message of a conversation takes about a hundred.
  uint64_t steps = 10'000'000;
  // Bytes of rendered text.
  size_t output_bytes = size_t{64} << 20;
  // Bytes of all values alive at a time, without those of the caller, and of
  // what is copied while a value grows.
  size_t memory_bytes = size_t{256} << 20;
};

}  // namespace rc::text::chat
