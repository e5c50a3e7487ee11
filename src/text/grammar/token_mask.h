// One bit per token of a vocabulary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rc::text::grammar {

class TokenMask {
 public:
  TokenMask() = default;
  explicit TokenMask(size_t tokens)
      : tokens_(tokens), words_(tokens / 64 + 1) {}

  size_t size() const { return tokens_; }
  void set(int32_t token) {
    const auto bit = static_cast<size_t>(token);
    words_[bit / 64] |= uint64_t{1} << (bit % 64);
  }
  void reset(int32_t token) {
    const auto bit = static_cast<size_t>(token);
    words_[bit / 64] &= ~(uint64_t{1} << (bit % 64));
  }
  bool test(int32_t token) const {
    const auto bit = static_cast<size_t>(token);
    return (words_[bit / 64] >> (bit % 64) & 1) != 0;
  }
  void clear() { words_.assign(words_.size(), 0); }
  void add(const TokenMask& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  // Bit i % 32 of word i / 32 is of token i; what is beyond the tokens is 0,
  // and what `words` has no room for is left out.
  void copy_to(std::span<uint32_t> words) const {
    for (size_t i = 0; i < words.size(); ++i) {
      const uint64_t word = i / 2 < words_.size() ? words_[i / 2] : 0;
      words[i] = static_cast<uint32_t>(word >> (i % 2 * 32));
    }
  }
  // Bit i % 64 of word i / 64 is of token i.
  const std::vector<uint64_t>& words() const { return words_; }
  bool operator==(const TokenMask&) const = default;

 private:
  size_t tokens_ = 0;
  std::vector<uint64_t> words_;
};

}  // namespace rc::text::grammar
