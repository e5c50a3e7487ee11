#include "cpu/hot_experts.h"

#include <algorithm>

namespace rc::cpu {

HotExperts::HotExperts(int64_t experts, int64_t copies, uint64_t expert_bytes,
                       const Nodes& nodes)
    : expert_bytes_(expert_bytes),
      memory_(
          nodes.allocate(static_cast<uint64_t>(copies) * expert_bytes, copies)),
      copies_(static_cast<size_t>(experts), -1),
      held_(static_cast<size_t>(copies)) {
  // choose() must not need memory.
  missing_.reserve(held_.size());
  wanting_.reserve(copies_.size());
}

void HotExperts::choose(const Choices& choices) {
  ++product_;
  // Copies that a stopped run has not finished are removed.
  for (const int32_t expert : missing_) {
    held_[copies_[expert]] = {};
    copies_[expert] = -1;
  }
  missing_.clear();
  wanting_.clear();
  for (int64_t i = 0; i < choices.groups(); ++i) {
    const int32_t expert = choices.group(i).expert;
    if (const int32_t copy = copies_[expert]; copy >= 0) {
      held_[copy].used = product_;
    } else if (wanting_.empty() || wanting_.back() != expert) {
      wanting_.push_back(expert);
    }
  }
  for (const int32_t expert : wanting_) {
    const auto oldest = std::min_element(
        held_.begin(), held_.end(),
        [](const Copy& a, const Copy& b) { return a.used < b.used; });
    if (oldest->used == product_) break;
    if (oldest->expert >= 0) copies_[oldest->expert] = -1;
    *oldest = {expert, product_};
    copies_[expert] = static_cast<int32_t>(oldest - held_.begin());
    missing_.push_back(expert);
  }
}

}  // namespace rc::cpu
