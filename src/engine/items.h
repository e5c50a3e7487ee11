// The items of a session, in order: runs of tokens, and runs of embedding rows.
// Each token and each row has one position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/token.h"
#include "model/embedding_rows.h"

namespace rc::engine {

using model::EmbeddingRows;
using model::EmbeddingRun;

// Items at consecutive positions, in the memory of a list of them.
struct ItemSpan {
  std::span<const TokenId> tokens;     // kNoToken where a row is
  std::span<const EmbeddingRun> runs;  // in order; may reach beyond both ends
  int64_t begin = 0;                   // position of the first token

  int64_t size() const { return static_cast<int64_t>(tokens.size()); }
  // A hash of the contents that begins with `hash`.
  uint64_t hash(uint64_t hash) const;
};
// Whether both have the same tokens and, number by number, the same rows at
// the same places.
bool operator==(const ItemSpan& a, const ItemSpan& b);

class Items {
 public:
  Items() = default;
  // Copies them.
  explicit Items(const ItemSpan& span);

  int64_t size() const { return static_cast<int64_t>(tokens_.size()); }
  bool empty() const { return tokens_.empty(); }
  // The token of each position, kNoToken where a row is.
  std::span<const TokenId> tokens() const { return tokens_; }
  // In order; none is empty.
  std::span<const EmbeddingRun> runs() const { return runs_; }
  ItemSpan all() const { return {tokens_, runs_, 0}; }
  ItemSpan subspan(int64_t begin, int64_t count) const;

  // Each of these changes nothing if it throws std::bad_alloc.
  void append(TokenId token) { tokens_.push_back(token); }
  void append(std::span<const TokenId> tokens);
  void append(std::shared_ptr<const EmbeddingRows> rows);
  // Puts the rows where the tokens, which are kNoToken, have none yet; `first`
  // is the number of the first one. Runs are put in rising order.
  void put(int64_t begin, int64_t count,
           std::shared_ptr<const EmbeddingRows> rows, int64_t first);

  // Drops the items from `size` on.
  void truncate(int64_t size) noexcept;
  // Drops `count` items from `begin` on; those behind them move up.
  void erase(int64_t begin, int64_t count);

 private:
  std::vector<TokenId> tokens_;
  std::vector<EmbeddingRun> runs_;
};

// Returns the number of first items that both have in common.
int64_t common_items(const Items& a, const Items& b);

}  // namespace rc::engine
