// Finds which pieces of a vocabulary a text begins with.
//
// The pieces are kept sorted, so that those that share a beginning are
// neighbours: walking along a text narrows a range, byte by byte.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace rc::text {

struct Piece {
  std::string_view text;  // owned by the vocabulary
  TokenId id;
};

class PieceIndex {
 public:
  PieceIndex() : PieceIndex(std::vector<Piece>()) {}
  // Empty pieces are left out; of equal ones the lowest id counts.
  explicit PieceIndex(std::vector<Piece> pieces);

  // A position in the index; reads the index, so it must not outlive it.
  class Walk {
   public:
    explicit Walk(const PieceIndex& index);
    // Goes on by one byte; false if no piece goes on like this.
    bool step(char byte);
    // The token whose piece is what was walked so far, or kNoToken.
    TokenId id() const;

   private:
    const PieceIndex& index_;
    size_t first_;
    size_t last_;
    size_t depth_ = 0;
  };

  struct Match {
    TokenId id = kNoToken;
    size_t size = 0;
  };
  // The longest piece that the text begins with.
  Match longest(std::string_view text) const {
    return longest(text, [](TokenId) { return true; });
  }
  // The same among the pieces that `accept`, given their ids, says true to.
  template <class Accept>
  Match longest(std::string_view text, const Accept& accept) const {
    Match match;
    Walk walk(*this);
    for (size_t i = 0; i < text.size() && walk.step(text[i]); ++i) {
      const TokenId id = walk.id();
      if (id != kNoToken && accept(id)) match = {id, i + 1};
    }
    return match;
  }

  // The token whose piece is the text, or kNoToken.
  TokenId find(std::string_view text) const;

 private:
  std::vector<Piece> pieces_;
  // Where the pieces that begin with a byte begin; one more for the end.
  std::array<size_t, 257> starts_;
};

}  // namespace rc::text
