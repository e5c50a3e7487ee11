// Tokens among which one is drawn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/token.h"

namespace rc::engine {

// Those with equal logits stand in order of their ids.
class Candidates {
 public:
  size_t size() const { return ids_.size(); }
  const std::vector<float>& logits() const { return logits_; }
  // Of those added, 0 until they are written.
  std::vector<uint64_t>& weights() { return weights_; }
  const std::vector<TokenId>& ids() const { return ids_; }

  void clear() { resize(0); }
  void add(TokenId id, float logit);

  // Keeps the first ones, by falling key (as they stand, among equals), until
  // their weights reach `wanted`, which is more than 0 and at most the sum of
  // all. The one that reaches it comes to stand last. Keys are finite.
  void keep_first(uint64_t wanted, std::span<const float> keys);

 private:
  struct Entry {
    TokenId id;
    float logit;
    uint64_t weight;
    float key;
  };

  void resize(size_t count);
  void move(size_t from, size_t to);

  std::vector<TokenId> ids_;
  std::vector<float> logits_;
  std::vector<uint64_t> weights_;
  std::vector<float> keys_;   // of keep_first
  std::vector<Entry> spare_;  // likewise
};

}  // namespace rc::engine
