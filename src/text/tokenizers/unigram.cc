// SentencePiece's unigram model: of all ways to cut the text into pieces, the
// one whose scores (logarithms of probabilities) have the greatest sum, found
// from left to right (Viterbi).
#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "text/tokenizers/kinds.h"
#include "text/tokenizers/sentencepiece_text.h"

namespace rc::text {
namespace {

// A character without a piece costs this much more than the worst piece; the
// value of SentencePiece.
constexpr float kUnknownPenalty = 10;

class Unigram : public Tokenizer {
 public:
  explicit Unigram(Vocabulary v)
      : Tokenizer(
            std::move(v),
            {.add_bos = false, .add_eos = true, .add_space_prefix = true}),
        normalizer_(vocabulary(), add_space_prefix()),
        fallback_(vocabulary()) {
    const std::vector<float>& scores = vocabulary().scores;
    if (scores.empty()) {
      fail(RC_E_FORMAT, vocabulary().source,
           ": tokenizer.ggml.scores is missing; the tokenizer 't5' needs a "
           "score for each of its ",
           size(), " tokens");
    }
    std::vector<Piece> pieces;
    float worst = 0;
    for (TokenId id = 0; id < size(); ++id) {
      if (token_type(id) != TokenType::kNormal) continue;
      pieces.push_back({token_text(id), id});
      worst = std::min(worst, scores[static_cast<size_t>(id)]);
    }
    pieces_ = PieceIndex(std::move(pieces));
    unknown_score_ = worst - kUnknownPenalty;
    forget_rules();
  }

 private:
  // The best way to a place in the text. Which of several equally good ways
  // wins is a matter of rounding, so sums are rounded as in SentencePiece: they
  // are kept in single precision and compared in double.
  struct Node {
    float score = -std::numeric_limits<float>::infinity();
    size_t begin = 0;  // of the last piece
    TokenId id = kNoToken;
  };

  void encode(std::string_view raw, bool at_start, StopCheck* stop,
              std::vector<TokenId>* out) const override {
    const std::string text = normalizer_.normalize(raw, at_start, stop);
    const std::vector<Node> best = find_best(text, stop);
    std::vector<size_t> ends;
    for (size_t end = text.size(); end > 0; end = best[end].begin) {
      ends.push_back(end);
    }
    bool after_unknown = false;
    for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
      const Node& node = best[*end];
      if (node.id == kNoToken) {
        fallback_.append(
            std::string_view(text).substr(node.begin, *end - node.begin),
            &after_unknown, out);
      } else {
        after_unknown = false;
        out->push_back(node.id);
      }
    }
  }

  // For each place in the text the last node of the best path there. Places
  // within a character lead nowhere.
  std::vector<Node> find_best(std::string_view text, StopCheck* stop) const {
    std::vector<Node> best(text.size() + 1);
    best[0].score = 0;
    for (size_t at = 0; at < text.size();) {
      stop->step();
      const float so_far = best[at].score;
      const auto offer = [&](size_t size, double sum, TokenId id) {
        Node& node = best[at + size];
        if (sum > node.score) node = {static_cast<float>(sum), at, id};
      };
      const size_t char_size = decode_utf8(text.substr(at)).size;
      bool has_char = false;
      PieceIndex::Walk walk(pieces_);
      for (size_t i = at; i < text.size() && walk.step(text[i]); ++i) {
        const TokenId id = walk.id();
        if (id == kNoToken) continue;
        const size_t size = i + 1 - at;
        has_char = has_char || size == char_size;
        const double score = vocabulary().scores[static_cast<size_t>(id)];
        offer(size, score + so_far, id);
      }
      if (!has_char) offer(char_size, unknown_score_ + so_far, kNoToken);
      at += char_size;
    }
    return best;
  }

  size_t most_bytes_per_token() const override {
    if (normalizer_.shortens() || !fallback_.complete()) return 0;
    return longest_token_text();
  }

  std::string decode(TokenId id) const override {
    return decode_piece(token_text(id), token_type(id));
  }

  SentencePieceNormalizer normalizer_;
  ByteFallback fallback_;
  PieceIndex pieces_;
  float unknown_score_ = 0;
};

}  // namespace

std::shared_ptr<const Tokenizer> make_unigram(Vocabulary vocabulary) {
  return std::make_shared<const Unigram>(std::move(vocabulary));
}

}  // namespace rc::text
