#include "engine/candidates.h"

#include <algorithm>
#include <array>

namespace rc::engine {

void Candidates::resize(size_t count) {
  ids_.resize(count);
  logits_.resize(count);
  weights_.resize(count);
}

void Candidates::move(size_t from, size_t to) {
  ids_[to] = ids_[from];
  logits_[to] = logits_[from];
  weights_[to] = weights_[from];
}

void Candidates::add(TokenId id, float logit) {
  ids_.push_back(id);
  logits_.push_back(logit);
  weights_.push_back(0);
}

void Candidates::keep_first(uint64_t wanted, std::span<const float> keys) {
  constexpr size_t kParts = 256;
  keys_.assign(keys.begin(), keys.end());
  // Those before `begin` are taken. The others are parted by their keys; only
  // the part in which the sum is reached is parted further.
  size_t begin = 0;
  for (;;) {
    const auto [least, most] = std::minmax_element(
        keys_.begin() + static_cast<ptrdiff_t>(begin), keys_.end());
    const double low = *least;
    const double high = *most;
    if (low == high) break;
    const double scale = kParts / (high - low);
    const auto part_of = [=](float key) {
      return std::min(static_cast<size_t>((high - key) * scale), kParts - 1);
    };
    std::array<uint64_t, kParts> sums{};
    for (size_t i = begin; i < size(); ++i) {
      sums[part_of(keys_[i])] += weights_[i];
    }
    size_t part = 0;
    while (sums[part] < wanted) wanted -= sums[part++];
    spare_.clear();
    for (size_t i = begin; i < size(); ++i) {
      const size_t its = part_of(keys_[i]);
      if (its < part) {
        move(i, begin++);
      } else if (its == part) {
        spare_.push_back({ids_[i], logits_[i], weights_[i], keys_[i]});
      }
    }
    resize(begin + spare_.size());
    keys_.resize(size());
    for (size_t i = 0; i < spare_.size(); ++i) {
      ids_[begin + i] = spare_[i].id;
      logits_[begin + i] = spare_[i].logit;
      weights_[begin + i] = spare_[i].weight;
      keys_[begin + i] = spare_[i].key;
    }
  }
  size_t last = begin;
  while (weights_[last] < wanted) wanted -= weights_[last++];
  resize(last + 1);
}

}  // namespace rc::engine
