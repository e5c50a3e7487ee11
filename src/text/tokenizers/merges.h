// The merges of byte pair encoding: which neighbours become one symbol, the
// earliest in the list first.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/stop_check.h"
#include "text/vocabulary.h"

namespace rc::text {

// Pairs of symbols that become one.
class MergeTable {
 public:
  using Symbol = uint32_t;

  void reserve(size_t count) { merges_.reserve(count); }
  // Of merges of one pair the first counts, or with `replace` the last.
  void add(Symbol left, Symbol right, uint32_t rank, Symbol result,
           bool replace = false);
  // Joins neighbours, the lowest rank first and of equal ones the leftmost, as
  // far as merges go. Takes time n log n in the number of symbols.
  void join(StopCheck* stop, std::vector<Symbol>* symbols) const;

 private:
  struct Merge {
    uint32_t rank;
    Symbol result;
  };
  static uint64_t key(Symbol left, Symbol right) {
    return uint64_t{left} << 32 | right;
  }
  std::unordered_map<uint64_t, Merge> merges_;
};

class Merges {
 public:
  // Reads the vocabulary's list; throws RC_E_FORMAT for one that is no pair.
  explicit Merges(const Vocabulary& vocabulary);

  // A symbol is the id of a token, or, from the number of tokens on, a text
  // that merges produce without its being a token.
  using Symbol = MergeTable::Symbol;

  // Joins the bytes of a word as far as merges go and appends what is left.
  // Takes time n log n in the size of the word.
  void join(std::string_view word, StopCheck* stop,
            std::vector<Symbol>* out) const;

  // The token of a symbol, or kNoToken.
  TokenId token(Symbol symbol) const;
  // The bytes of a symbol that is no token.
  std::string_view bytes(Symbol symbol) const;
  // The token of a single byte, or kNoToken.
  TokenId byte_token(char byte) const;

 private:
  size_t token_count_;
  std::vector<std::string> others_;  // bytes of the symbols that are no tokens
  std::array<Symbol, 256> byte_symbols_;
  MergeTable merges_;
};

}  // namespace rc::text
