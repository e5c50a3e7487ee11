#include "cpu/choices.h"

#include <algorithm>

namespace rc::cpu {

// A torn group begins and ends within sorted_: its count is at most a chunk.
Choices::Choices(int32_t index, int64_t most, int64_t experts, int64_t chunk)
    : index_(index),
      chunk_(static_cast<int32_t>(chunk)),
      begins_(experts + 1),
      sorted_(most + chunk),
      groups_(std::min(most, experts) + most / chunk + 1) {}

void Choices::sort(Run& run, const int32_t* ids, int64_t count) {
  const auto experts = static_cast<int64_t>(begins_.size()) - 1;
  std::fill(begins_.begin(), begins_.end(), 0);
  for (int64_t i = 0; i < count; ++i) {
    if (ids[i] < 0 || ids[i] >= experts) {
      run.fail(RC_E_INVALID_ARGUMENT,
               "EXPERT_LINEAR: expert %d of %lld is asked for", ids[i],
               static_cast<long long>(experts));
      return;
    }
    ++begins_[ids[i]];
  }
  int32_t end = 0;
  for (int32_t& begin : begins_) {
    end += begin;
    begin = end;
  }
  for (int64_t i = count; i-- > 0;) {
    sorted_[--begins_[ids[i]]].store(static_cast<int32_t>(i),
                                     std::memory_order_relaxed);
  }
  int64_t groups = 0;
  for (int64_t e = 0; e < experts; ++e) {
    for (int32_t first = begins_[e]; first < begins_[e + 1]; first += chunk_) {
      AtomicGroup& group = groups_[groups++];
      group.expert.store(static_cast<int32_t>(e), std::memory_order_relaxed);
      group.first.store(first, std::memory_order_relaxed);
      group.count.store(std::min(chunk_, begins_[e + 1] - first),
                        std::memory_order_relaxed);
    }
  }
  count_.store(groups, std::memory_order_relaxed);
}

Choices::Group Choices::group(int64_t i) const {
  // Only a piece of a run that is over can be beyond.
  const AtomicGroup& group = groups_[std::min<int64_t>(i, most_groups() - 1)];
  return {group.expert.load(std::memory_order_relaxed),
          group.first.load(std::memory_order_relaxed),
          group.count.load(std::memory_order_relaxed)};
}

}  // namespace rc::cpu
