// SentencePiece's unigram model: of all ways to cut the text into pieces, the
// one whose scores (logarithms of probabilities) have the greatest sum, found
// from left to right (Viterbi).
#include <algorithm>
#include <limits>
#include <utility>

#include "base/utf8.h"
#include "text/tokenizers/kinds.h"
#include "text/tokenizers/sentencepiece_tokenizer.h"

namespace rc::text {
namespace {

// A character without a piece costs this much more than the worst piece; the
// value of SentencePiece.
constexpr float kUnknownPenalty = 10;

// The additional cost of a user-defined token over the best piece for each of
// its bytes; the value of SentencePiece.
constexpr double kUserDefinedPenalty = 0.1;

class Unigram : public SentencePieceTokenizer {
 public:
  explicit Unigram(Vocabulary v)
      : SentencePieceTokenizer(
            std::move(v),
            {.add_bos = false, .add_eos = true, .add_space_prefix = true}) {
    const std::vector<float>& scores = vocabulary().scores;
    std::vector<Piece> pieces;
    float worst = 0;
    for (TokenId id = 0; id < size(); ++id) {
      const bool user_defined = token_type(id) == TokenType::kUserDefined;
      if (token_type(id) != TokenType::kNormal && !user_defined) continue;
      pieces.push_back({piece(id), id});
      if (user_defined) continue;
      worst = std::min(worst, scores[static_cast<size_t>(id)]);
      best_score_ = std::max(best_score_, scores[static_cast<size_t>(id)]);
    }
    pieces_ = PieceIndex(std::move(pieces));
    check_steps(pieces_, vocabulary().source);
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

  void encode_prepared(const PreparedText& normal, const Forbidden& forbidden,
                       StopCheck* stop,
                       std::vector<TokenId>* out) const override {
    const std::string_view text = normal.text;
    const std::vector<Node> best = find_best(normal, forbidden, stop);
    std::vector<size_t> ends;
    for (size_t end = text.size(); end > 0; end = best[end].begin) {
      ends.push_back(end);
    }
    bool after_unknown = false;
    for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
      const Node& node = best[*end];
      if (node.id == kNoToken) {
        fallback().append(text.substr(node.begin, *end - node.begin),
                          &after_unknown, out);
      } else {
        after_unknown = false;
        out->push_back(node.id);
      }
    }
  }

  // For each place in the text the last node of the best path there. Places
  // within a character lead nowhere.
  std::vector<Node> find_best(const PreparedText& normal,
                              const Forbidden& forbidden,
                              StopCheck* stop) const {
    const std::string_view text = normal.text;
    auto fixed = normal.fixed.begin();
    std::vector<Node> best(text.size() + 1);
    best[0].score = 0;
    for (size_t at = 0; at < text.size();) {
      stop->step();
      while (fixed != normal.fixed.end() && fixed->place.begin < at) ++fixed;
      const TokenId named =
          fixed != normal.fixed.end() && fixed->place.begin == at ? fixed->id
                                                                  : kNoToken;
      const float so_far = best[at].score;
      const auto offer = [&](size_t size, double sum, TokenId id) {
        Node& node = best[at + size];
        if (sum > node.score) node = {static_cast<float>(sum), at, id};
      };
      const size_t char_size = decode_utf8(text.substr(at)).size;
      bool has_char = false;
      for (PieceIndex::Walk walk(pieces_, text.substr(at)); walk.next();) {
        stop->step();
        const TokenId id = walk.id();
        const bool user_defined = token_type(id) == TokenType::kUserDefined;
        if (user_defined && id != named && forbidden(id)) continue;
        const size_t size = walk.size();
        has_char = has_char || size == char_size;
        const double score =
            user_defined
                ? static_cast<float>(size) * best_score_ - kUserDefinedPenalty
                : double{vocabulary().scores[static_cast<size_t>(id)]};
        offer(size, score + so_far, id);
      }
      if (!has_char) offer(char_size, unknown_score_ + so_far, kNoToken);
      at += char_size;
    }
    return best;
  }

  PieceIndex pieces_;
  float unknown_score_ = 0;
  // As in SentencePiece it is above zero, if only just.
  float best_score_ = std::numeric_limits<float>::min();
};

}  // namespace

std::shared_ptr<const Tokenizer> make_unigram(Vocabulary vocabulary) {
  return std::make_shared<const Unigram>(std::move(vocabulary));
}

}  // namespace rc::text
