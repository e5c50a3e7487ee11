// The unigram model of SentencePiece as the tokenizers package computes it: in
// double precision, and with neighbouring unknown parts looked up as one.
#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "base/quote.h"
#include "base/utf8.h"
#include "text/piece_index.h"
#include "text/tokenizer_json/byte_tokens.h"
#include "text/tokenizer_json/models.h"

namespace rc::text {
namespace {

// A character without a piece costs this much more than the worst piece.
constexpr double kPenalty = 10;

class UnigramModel : public WordModel {
 public:
  UnigramModel(const JsonNode& node, const ModelTokens& tokens,
               const std::vector<bool>& special)
      : scores_(tokens.scores), bytes_(tokens) {
    byte_fallback_ = node.flag("byte_fallback", false);
    if (const auto unknown = node.find("unk_id")) {
      unknown_ = unknown->id();
      if (static_cast<size_t>(unknown_) >= tokens.texts.size()) {
        unknown->refuse("is ", unknown_, ", but there are ",
                        tokens.texts.size(), " tokens; ids begin at 0");
      }
    }
    std::vector<Piece> pieces;
    double worst = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < tokens.texts.size(); ++i) {
      worst = std::min(worst, scores_[i]);
      if (!special[i]) {
        pieces.push_back({tokens.texts[i], static_cast<TokenId>(i)});
      }
    }
    pieces_ = PieceIndex(std::move(pieces));
    check_steps(pieces_, node.source());
    unknown_score_ = (scores_.empty() ? 0 : worst) - kPenalty;
  }

  void encode(std::string_view word, StopCheck* stop,
              std::vector<TokenId>* out) const override {
    const std::vector<Node> best = find_best(word, stop);
    std::vector<size_t> ends;
    for (size_t end = word.size(); end > 0; end = best[end].begin) {
      ends.push_back(end);
    }
    size_t unknown_begin = word.size();
    for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
      const Node& node = best[*end];
      if (node.id != unknown()) {
        out->push_back(node.id);
        continue;
      }
      if (unknown_begin == word.size()) unknown_begin = node.begin;
      // Neighbouring unknown parts are one.
      const auto next = std::next(end);
      if (unknown() != kNoToken && next != ends.rend() &&
          best[*next].id == unknown()) {
        continue;
      }
      append_unknown(word.substr(unknown_begin, *end - unknown_begin), out);
      unknown_begin = word.size();
    }
  }

 private:
  // The best way to a place in the word.
  struct Node {
    double score = 0;
    size_t begin = SIZE_MAX;  // of the last piece; none: no way leads here
    TokenId id = kNoToken;
  };

  std::vector<Node> find_best(std::string_view word, StopCheck* stop) const {
    std::vector<Node> best(word.size() + 1);
    for (size_t at = 0; at < word.size();) {
      stop->step();
      const double so_far = best[at].score;
      const auto offer = [&](size_t size, double sum, TokenId id) {
        Node& node = best[at + size];
        if (node.begin == SIZE_MAX || sum > node.score) node = {sum, at, id};
      };
      const size_t char_size = decode_utf8(word.substr(at)).size;
      bool has_char = false;
      for (PieceIndex::Walk walk(pieces_, word.substr(at)); walk.next();) {
        stop->step();
        const TokenId id = walk.id();
        const size_t size = walk.size();
        has_char = has_char || size == char_size;
        offer(size, scores_[static_cast<size_t>(id)] + so_far, id);
      }
      if (!has_char) offer(char_size, unknown_score_ + so_far, unknown());
      at += char_size;
    }
    return best;
  }

  void append_unknown(std::string_view part, std::vector<TokenId>* out) const {
    const TokenId id = pieces_.find(part);
    if (id != kNoToken) {
      out->push_back(id);
    } else if (byte_fallback_ && bytes_.cover(part)) {
      for (const char byte : part) out->push_back(bytes_.of(byte));
    } else if (unknown() != kNoToken) {
      out->push_back(unknown());
    }
  }

  const std::vector<double>& scores_;  // the caller's
  ByteTokens bytes_;
  PieceIndex pieces_;
  double unknown_score_ = 0;
};

}  // namespace

std::unique_ptr<const WordModel> make_unigram_model(
    const JsonNode& node, const ModelTokens& tokens,
    const std::vector<bool>& special) {
  return std::make_unique<UnigramModel>(node, tokens, special);
}

}  // namespace rc::text
