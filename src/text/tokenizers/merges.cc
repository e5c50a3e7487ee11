#include "text/tokenizers/merges.h"

#include <queue>

#include "base/error.h"
#include "base/quote.h"
#include "text/tokenizers/byte_alphabet.h"

namespace rc::text {
namespace {

constexpr size_t kNone = SIZE_MAX;

// A symbol of the word, in a list of those that are left.
struct Node {
  MergeTable::Symbol symbol;
  bool joined;  // to the one before
  size_t previous;
  size_t next;
};

// Two neighbours that may become one.
struct Candidate {
  uint32_t rank;
  size_t left;
  MergeTable::Symbol left_symbol;  // these two show stale candidates
  MergeTable::Symbol right_symbol;
  MergeTable::Symbol result;
  bool operator<(const Candidate& other) const {  // the best is the greatest
    return rank != other.rank ? rank > other.rank : left > other.left;
  }
};

}  // namespace

void MergeTable::add(Symbol left, Symbol right, uint32_t rank, Symbol result,
                     bool replace) {
  const auto [at, is_new] =
      merges_.try_emplace(key(left, right), Merge{rank, result});
  if (!is_new && replace) at->second = {rank, result};
}

void MergeTable::join(StopCheck* stop, std::vector<Symbol>* symbols) const {
  if (symbols->size() < 2) return;
  std::vector<Node> nodes;
  nodes.reserve(symbols->size());
  for (size_t i = 0; i < symbols->size(); ++i) {
    nodes.push_back({(*symbols)[i], false, i == 0 ? kNone : i - 1,
                     i + 1 == symbols->size() ? kNone : i + 1});
  }
  std::priority_queue<Candidate> queue;
  const auto consider = [&](size_t left, size_t right) {
    if (left == kNone || right == kNone) return;
    const Symbol a = nodes[left].symbol;
    const Symbol b = nodes[right].symbol;
    const auto merge = merges_.find(key(a, b));
    if (merge == merges_.end()) return;
    queue.push({merge->second.rank, left, a, b, merge->second.result});
  };
  for (size_t i = 1; i < nodes.size(); ++i) consider(i - 1, i);
  while (!queue.empty()) {
    stop->step();
    const Candidate best = queue.top();
    queue.pop();
    Node& left = nodes[best.left];
    if (left.joined || left.symbol != best.left_symbol || left.next == kNone ||
        nodes[left.next].symbol != best.right_symbol) {
      continue;
    }
    Node& right = nodes[left.next];
    left.symbol = best.result;
    right.joined = true;
    left.next = right.next;
    if (left.next != kNone) nodes[left.next].previous = best.left;
    consider(left.previous, best.left);
    consider(best.left, left.next);
  }
  symbols->clear();
  for (size_t at = 0; at != kNone; at = nodes[at].next) {
    symbols->push_back(nodes[at].symbol);
  }
}

Merges::Merges(const Vocabulary& v) : token_count_(v.tokens.size()) {
  std::unordered_map<std::string, Symbol> symbols;
  symbols.reserve(token_count_);
  for (size_t i = 0; i < token_count_; ++i) {
    const TokenType type = v.type(static_cast<TokenId>(i));
    if (type == TokenType::kControl || type == TokenType::kUnknown) continue;
    symbols.try_emplace(v.tokens[i], static_cast<Symbol>(i));
  }
  const auto intern = [&](const std::string& text) {
    const auto [at, is_new] = symbols.try_emplace(
        text, static_cast<Symbol>(token_count_ + others_.size()));
    if (is_new) others_.push_back(bytes_of_piece(text).value_or(text));
    return at->second;
  };
  for (size_t byte = 0; byte < 256; ++byte) {
    byte_symbols_[byte] = intern(byte_alphabet()[byte]);
  }
  merges_.reserve(v.merges.size());
  for (size_t rank = 0; rank < v.merges.size(); ++rank) {
    const std::string& merge = v.merges[rank];
    // A part may begin with a space in files whose pieces aren't byte-level.
    const size_t space = merge.find(' ', 1);
    if (space == std::string::npos || space + 1 == merge.size()) {
      fail(RC_E_FORMAT, v.source, ": tokenizer.ggml.merges[", rank, "] is ",
           quote(merge), "; it must be two pieces with a space between");
    }
    const std::string left = merge.substr(0, space);
    const std::string right = merge.substr(space + 1);
    const Symbol left_symbol = intern(left);
    const Symbol right_symbol = intern(right);
    merges_.add(left_symbol, right_symbol, static_cast<uint32_t>(rank),
                intern(left + right));
  }
}

void Merges::join(std::string_view word, StopCheck* stop,
                  std::vector<Symbol>* out) const {
  std::vector<Symbol> symbols;
  symbols.reserve(word.size());
  for (const char byte : word) {
    symbols.push_back(byte_symbols_[static_cast<uint8_t>(byte)]);
  }
  merges_.join(stop, &symbols);
  out->insert(out->end(), symbols.begin(), symbols.end());
}

TokenId Merges::token(Symbol symbol) const {
  return symbol < token_count_ ? static_cast<TokenId>(symbol) : kNoToken;
}

std::string_view Merges::bytes(Symbol symbol) const {
  return others_[symbol - token_count_];
}

TokenId Merges::byte_token(char byte) const {
  return token(byte_symbols_[static_cast<uint8_t>(byte)]);
}

}  // namespace rc::text
