// SentencePiece's byte pair encoding: begin with the characters; of all
// neighbours that together are a piece, join those with the best score, the
// leftmost first; repeat.
#include <algorithm>
#include <queue>
#include <unordered_map>
#include <utility>

#include "base/utf8.h"
#include "text/tokenizers/kinds.h"
#include "text/tokenizers/sentencepiece_tokenizer.h"

namespace rc::text {
namespace {

class SentencePiece : public SentencePieceTokenizer {
 public:
  explicit SentencePiece(Vocabulary v)
      : SentencePieceTokenizer(
            std::move(v),
            {.add_bos = true, .add_eos = false, .add_space_prefix = true}) {
    for (TokenId id = 0; id < size(); ++id) {
      const TokenType type = token_type(id);
      if (type != TokenType::kNormal && type != TokenType::kUnused &&
          type != TokenType::kUserDefined) {
        continue;
      }
      const std::string_view text = piece(id);
      if (text.empty()) continue;
      pieces_.try_emplace(text, id);
      longest_piece_ = std::max(longest_piece_, text.size());
    }
    forget_rules();
  }

 private:
  // A part of the text, in a list of those that are left.
  struct Symbol {
    size_t begin;
    size_t size;  // 0 once joined to the symbol before
    size_t previous;
    size_t next;
    TokenId fixed = kNoToken;  // the token that it is, never joined to others
  };
  static constexpr size_t kNone = SIZE_MAX;

  // Two neighbours that together are a piece.
  struct Pair {
    float score;
    size_t left;
    size_t right;
    size_t size;  // of both when the pair was found; shows stale pairs
    bool operator<(const Pair& other) const {  // the best is the greatest
      return score != other.score ? score < other.score : left > other.left;
    }
  };

  // The merges of unused pieces: their texts and the sizes of their left parts.
  using Splits = std::unordered_map<std::string_view, size_t>;

  TokenId find(std::string_view text) const {
    if (text.size() > longest_piece_) return kNoToken;
    const auto at = pieces_.find(text);
    return at == pieces_.end() ? kNoToken : at->second;
  }

  void encode_prepared(const PreparedText& normal, const Forbidden& forbidden,
                       StopCheck* stop,
                       std::vector<TokenId>* out) const override {
    const std::string_view text = normal.text;
    Splits splits;
    const std::vector<Symbol> symbols = join(normal, forbidden, stop, &splits);
    bool after_unknown = false;
    for (size_t at = symbols.empty() ? kNone : 0; at != kNone;
         at = symbols[at].next) {
      stop->step();
      if (symbols[at].fixed != kNoToken) {
        after_unknown = false;
        out->push_back(symbols[at].fixed);
        continue;
      }
      append(text.substr(symbols[at].begin, symbols[at].size), splits,
             &after_unknown, out);
    }
  }

  std::vector<Symbol> join(const PreparedText& normal,
                           const Forbidden& forbidden, StopCheck* stop,
                           Splits* splits) const {
    const std::string_view text = normal.text;
    std::vector<Symbol> symbols;
    auto fixed = normal.fixed.begin();
    for (size_t at = 0; at < text.size();) {
      stop->step();
      while (fixed != normal.fixed.end() && fixed->place.begin < at) ++fixed;
      PieceIndex::Match match = user_defined_at(text.substr(at), forbidden);
      if (fixed != normal.fixed.end() && fixed->place.begin == at &&
          fixed->place.end - at >= match.size) {
        match = {fixed->id, fixed->place.end - at};
      }
      if (match.size == 0) match.size = decode_utf8(text.substr(at)).size;
      const size_t index = symbols.size();
      symbols.push_back({at, match.size, index == 0 ? kNone : index - 1,
                         index + 1, match.id});
      at += match.size;
    }
    if (symbols.empty()) return symbols;
    symbols.back().next = kNone;

    std::priority_queue<Pair> queue;
    const auto consider = [&](size_t left, size_t right) {
      if (left == kNone || right == kNone) return;
      if (symbols[left].fixed != kNoToken || symbols[right].fixed != kNoToken) {
        return;
      }
      const size_t size = symbols[left].size + symbols[right].size;
      const std::string_view both = text.substr(symbols[left].begin, size);
      const TokenId id = find(both);
      if (id == kNoToken) return;
      if (token_type(id) == TokenType::kUnused) {
        splits->insert_or_assign(both, symbols[left].size);
      }
      queue.push(
          {vocabulary().scores[static_cast<size_t>(id)], left, right, size});
    };
    for (size_t i = 1; i < symbols.size(); ++i) consider(i - 1, i);
    while (!queue.empty()) {
      stop->step();
      const Pair pair = queue.top();
      queue.pop();
      Symbol& left = symbols[pair.left];
      Symbol& right = symbols[pair.right];
      if (left.size == 0 || right.size == 0 ||
          left.size + right.size != pair.size) {
        continue;
      }
      left.size = pair.size;
      right.size = 0;
      left.next = right.next;
      if (right.next != kNone) symbols[right.next].previous = pair.left;
      consider(left.previous, pair.left);
      consider(pair.left, left.next);
    }
    return symbols;
  }

  void append(std::string_view part, const Splits& splits, bool* after_unknown,
              std::vector<TokenId>* out) const {
    std::vector<std::string_view> rest = {part};
    while (!rest.empty()) {
      const std::string_view next = rest.back();
      rest.pop_back();
      const TokenId id = find(next);
      const auto split = splits.find(next);
      if (split != splits.end()) {
        rest.push_back(next.substr(split->second));
        rest.push_back(next.substr(0, split->second));
      } else if (id == kNoToken || token_type(id) == TokenType::kUnused) {
        fallback().append(next, after_unknown, out);
      } else {
        *after_unknown = false;
        out->push_back(id);
      }
    }
  }

  std::unordered_map<std::string_view, TokenId> pieces_;
  size_t longest_piece_ = 0;
};

}  // namespace

std::shared_ptr<const Tokenizer> make_sentencepiece(Vocabulary vocabulary) {
  return std::make_shared<const SentencePiece>(std::move(vocabulary));
}

}  // namespace rc::text
