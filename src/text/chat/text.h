// Text that remembers which of its bytes are content.
//
// A chat template mixes its own markup with what users, tools and models said.
// Only the former may be read as control tokens, or a user could write
// "<|im_end|>" and speak for another role.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/span.h"

namespace rc::text::chat {

enum class Origin : unsigned char {
  kTemplate,  // written by the author of the template or of the program
  kContent,   // from a message, a tool or an argument, however derived
};

class Text {
 public:
  Text() = default;
  Text(std::string_view bytes, Origin origin) { append(bytes, origin); }

  const std::string& bytes() const { return bytes_; }
  // The bytes, moved out.
  std::string release() { return std::move(bytes_); }
  size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }

  // Which bytes are content: in order, neither empty nor touching.
  const std::vector<Span>& content() const { return content_; }
  bool has_content() const { return !content_.empty(); }

  void append(std::string_view bytes, Origin origin);
  void append(const Text& text) { append(text, 0, text.size()); }
  // Bytes [begin, end) of another text.
  void append(const Text& text, size_t begin, size_t end);
  Text slice(size_t begin, size_t end) const;

  // Returns the origin of a character or number that replaces the bytes [begin,
  // end): content if any of them is.
  Origin origin(size_t begin, size_t end) const;

  // About the bytes that it takes in memory.
  size_t memory() const { return bytes_.capacity() + content_memory(); }
  // Of it, that of the spans.
  size_t content_memory() const { return content_.capacity() * sizeof(Span); }
  // Makes room for so many bytes in all, and no more.
  void reserve(size_t bytes);

 private:
  // The first span that ends after `at`.
  std::vector<Span>::const_iterator span_after(size_t at) const;
  void mark(size_t begin, size_t end);

  std::string bytes_;
  std::vector<Span> content_;
};

// Origins of a text's bytes, asked for from left to right.
class OriginCursor {
 public:
  explicit OriginCursor(const Text& text)
      : next_(text.content().begin()), end_(text.content().end()) {}
  // `at` must not decrease from call to call.
  Origin at(size_t at) {
    while (next_ != end_ && next_->end <= at) ++next_;
    return next_ != end_ && next_->begin <= at ? Origin::kContent
                                               : Origin::kTemplate;
  }

 private:
  std::vector<Span>::const_iterator next_;
  std::vector<Span>::const_iterator end_;
};

}  // namespace rc::text::chat
