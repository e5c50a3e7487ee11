// Finds which pieces of a vocabulary a text begins with.
//
// The pieces are kept sorted, so that those that share a beginning are
// neighbours: walking along a text narrows a range. Each step goes to the next
// byte at which pieces end or part, and compares what lies between as a whole,
// so that the length of the pieces does not matter.
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

  // The pieces that a text begins with, the shortest first. Reads the index and
  // the text, so it must not outlive them.
  class Walk {
   public:
    Walk(const PieceIndex& index, std::string_view text);
    // Goes to the next longer piece; false if there is none. Takes at most
    // most_steps() steps from the first piece to the last.
    bool next();
    // The token of the piece, and the size of the piece in bytes.
    TokenId id() const { return index_.pieces_[first_].id; }
    size_t size() const { return size_; }

   private:
    const PieceIndex& index_;
    std::string_view text_;
    size_t first_ = 0;
    size_t last_ = 0;
    size_t size_ = 0;
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
    for (Walk walk(*this, text); walk.next();) {
      if (accept(walk.id())) match = {walk.id(), walk.size()};
    }
    return match;
  }

  // The token whose piece is the text, or kNoToken.
  TokenId find(std::string_view text) const;

  // The most steps that a walk takes, whatever the text is: the number of
  // places along one piece at which pieces end or part.
  size_t most_steps() const { return most_steps_; }
  // The last piece in order along which a walk takes so many steps; "" of an
  // empty index.
  std::string_view steepest() const {
    return pieces_.empty() ? std::string_view() : pieces_[steepest_].text;
  }

 private:
  void count_steps();

  std::vector<Piece> pieces_;
  // Where the pieces that begin with a byte begin; one more for the end.
  std::array<size_t, 257> starts_;
  size_t most_steps_ = 0;
  size_t steepest_ = 0;  // index of a piece
};

// The limit on most_steps() of an index that is searched at each byte of a
// text. Known vocabularies need fewer than a hundred.
inline constexpr size_t kMostPieceSteps = 512;
// Throws RC_E_UNSUPPORTED if the index exceeds the limit; `source` is the file.
void check_steps(const PieceIndex& index, std::string_view source);

}  // namespace rc::text
