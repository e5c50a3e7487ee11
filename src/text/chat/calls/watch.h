// Looks for a text in what comes byte by byte (Knuth, Morris and Pratt 1977).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rc::text::chat {

class Watch {
 public:
  // Finds nothing if the text is empty.
  explicit Watch(std::string text = {})
      : text_(std::move(text)), borders_(text_.size() + 1) {
    for (size_t i = 1; i < text_.size(); ++i) {
      borders_[i + 1] = next(borders_[i], text_[i]);
    }
  }

  const std::string& text() const { return text_; }

  // Returns the number of matched bytes of the text after one more byte, if
  // `matched` were matched before.
  uint16_t next(uint16_t matched, char byte) const {
    if (text_.empty()) return 0;
    while (matched > 0 && (matched == text_.size() || text_[matched] != byte)) {
      matched = borders_[matched];
    }
    return text_[matched] == byte ? static_cast<uint16_t>(matched + 1) : 0;
  }
  bool found(uint16_t matched) const {
    return matched > 0 && matched == text_.size();
  }

 private:
  std::string text_;
  std::vector<uint16_t> borders_;  // the longest that is also a beginning
};

}  // namespace rc::text::chat
