#include "text/piece_index.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/quote.h"

namespace rc::text {
namespace {

// The size of the longest beginning that two texts share, of which `known`
// bytes are known to be equal.
size_t common_size(std::string_view a, std::string_view b, size_t known) {
  const size_t end = std::min(a.size(), b.size());
  size_t at = known;
  for (uint64_t x = 0, y = 0; end - at >= sizeof x; at += sizeof x) {
    std::memcpy(&x, a.data() + at, sizeof x);
    std::memcpy(&y, b.data() + at, sizeof y);
    if (x != y) break;
  }
  while (at < end && a[at] == b[at]) ++at;
  return at;
}

}  // namespace

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
  count_steps();
}

PieceIndex::Walk::Walk(const PieceIndex& index, std::string_view text)
    : index_(index), text_(text) {
  if (text.empty()) return;
  const auto byte = static_cast<uint8_t>(text[0]);
  first_ = index.starts_[byte];
  last_ = index.starts_[byte + 1];
}

bool PieceIndex::Walk::next() {
  const std::vector<Piece>& pieces = index_.pieces_;
  // Of the pieces that share what was walked, the one that ends here is first.
  if (first_ < last_ && pieces[first_].text.size() == size_) ++first_;
  while (first_ < last_) {
    const std::string_view low = pieces[first_].text;
    const std::string_view high = pieces[last_ - 1].text;
    const size_t shared =
        first_ + 1 == last_ ? low.size() : common_size(low, high, size_);
    if (common_size(text_, low.substr(0, shared), size_) < shared) break;
    size_ = shared;
    if (low.size() == shared) return true;
    if (text_.size() == shared) break;
    // All of them go on here, in two ways at least.
    const auto wanted = static_cast<uint8_t>(text_[shared]);
    const auto at = [shared](const Piece& piece) {
      return static_cast<uint8_t>(piece.text[shared]);
    };
    const auto begin = pieces.begin();
    const auto from = begin + static_cast<ptrdiff_t>(first_);
    const auto to = begin + static_cast<ptrdiff_t>(last_);
    const auto lowest = std::partition_point(
        from, to, [&](const Piece& piece) { return at(piece) < wanted; });
    const auto highest = std::partition_point(
        lowest, to, [&](const Piece& piece) { return at(piece) == wanted; });
    first_ = static_cast<size_t>(lowest - begin);
    last_ = static_cast<size_t>(highest - begin);
  }
  first_ = last_;
  return false;
}

void PieceIndex::count_steps() {
  // A place at which pieces end or part, while the pieces that share it are
  // gone through.
  struct Place {
    size_t size;
    size_t steps;  // of a walk from here on, this one included
    size_t piece;  // along which there are so many
  };
  std::vector<Place> open;  // each within the one before
  // Closes the places beyond `shared` bytes; their steps count for the place at
  // which their pieces part from what comes next.
  const auto close = [&](size_t shared) {
    while (!open.empty() && open.back().size > shared) {
      const Place place = open.back();
      open.pop_back();
      const size_t steps = place.steps + 1;
      if (!open.empty() && open.back().size >= shared) {
        if (steps > open.back().steps) {
          open.back().steps = steps;
          open.back().piece = place.piece;
        }
      } else if (shared > 0) {
        open.push_back({shared, steps, place.piece});
      } else if (place.steps > most_steps_) {
        most_steps_ = place.steps;
        steepest_ = place.piece;
      }
    }
  };
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const std::string_view text = pieces_[i].text;
    close(i == 0 ? 0 : common_size(pieces_[i - 1].text, text, 0));
    open.push_back({text.size(), 1, i});
  }
  close(0);
}

void check_steps(const PieceIndex& index, std::string_view source) {
  if (index.most_steps() <= kMostPieceSteps) return;
  fail(RC_E_UNSUPPORTED, source, ": along the token ", quote(index.steepest()),
       " of the vocabulary, ", index.steepest().size(),
       " bytes, other tokens end or part at ", index.most_steps(),
       " places; the limit is ", kMostPieceSteps,
       ", for each would be looked at for every byte of a text");
}

TokenId PieceIndex::find(std::string_view text) const {
  const auto at = std::partition_point(
      pieces_.begin(), pieces_.end(),
      [&](const Piece& piece) { return piece.text < text; });
  return at != pieces_.end() && at->text == text ? at->id : kNoToken;
}

}  // namespace rc::text
