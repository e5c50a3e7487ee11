#include "text/piece_index.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace rc::text {

PieceIndex::PieceIndex(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {
  std::erase_if(pieces_, [](const Piece& p) { return p.text.empty(); });
  // string_view compares bytes as unsigned, as the walk does.
  std::sort(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) {
    return std::tie(a.text, a.id) < std::tie(b.text, b.id);
  });
  pieces_.erase(std::unique(pieces_.begin(), pieces_.end(),
                            [](const Piece& a, const Piece& b) {
                              return a.text == b.text;
                            }),
                pieces_.end());
  size_t at = 0;
  for (size_t byte = 0; byte < 256; ++byte) {
    starts_[byte] = at;
    while (at < pieces_.size() &&
           static_cast<uint8_t>(pieces_[at].text[0]) == byte) {
      ++at;
    }
  }
  starts_[256] = at;
}

PieceIndex::Walk::Walk(const PieceIndex& index)
    : index_(index), first_(0), last_(index.pieces_.size()) {}

bool PieceIndex::Walk::step(char byte) {
  const auto wanted = static_cast<uint8_t>(byte);
  if (depth_ == 0) {
    first_ = index_.starts_[wanted];
    last_ = index_.starts_[wanted + 1];
  } else {
    const auto begin = index_.pieces_.begin();
    // Of the pieces that share what was walked, the one that ends here is
    // first and goes nowhere.
    if (first_ < last_ && begin[first_].text.size() == depth_) ++first_;
    const auto at = [depth = depth_](const Piece& piece) {
      return static_cast<uint8_t>(piece.text[depth]);
    };
    const auto low = std::partition_point(
        begin + first_, begin + last_,
        [&](const Piece& piece) { return at(piece) < wanted; });
    const auto high = std::partition_point(
        low, begin + last_,
        [&](const Piece& piece) { return at(piece) == wanted; });
    first_ = static_cast<size_t>(low - begin);
    last_ = static_cast<size_t>(high - begin);
  }
  ++depth_;
  return first_ < last_;
}

TokenId PieceIndex::Walk::id() const {
  if (first_ >= last_) return kNoToken;
  const Piece& piece = index_.pieces_[first_];
  return piece.text.size() == depth_ ? piece.id : kNoToken;
}

TokenId PieceIndex::find(std::string_view text) const {
  const auto at = std::partition_point(
      pieces_.begin(), pieces_.end(),
      [&](const Piece& piece) { return piece.text < text; });
  return at != pieces_.end() && at->text == text ? at->id : kNoToken;
}

}  // namespace rc::text
