// The choices of experts of a run, sorted: which rows each expert has to do.
//
// Made by a separate step. A late thread may read it while the next one is
// made: the numbers are then useless, but always within bounds.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "cpu/step.h"

namespace rc::cpu {

class Choices {
 public:
  // `most` choices at most, of `experts`; groups of up to `chunk` of them.
  Choices(int32_t index, int64_t most, int64_t experts, int64_t chunk);

  // Sorts ids [count] by expert. Fails the run if an id is no expert's.
  void sort(Run& run, const int32_t* ids, int64_t count);

  // Choices of one expert that are done together.
  struct Group {
    int32_t expert;
    int32_t first;  // for at()
    int32_t count;  // 1 to chunk
  };
  int64_t most_groups() const { return static_cast<int64_t>(groups_.size()); }
  // At least 1.
  int64_t groups() const { return count_.load(std::memory_order_relaxed); }
  Group group(int64_t i) const;
  // The number of the i-th choice in the order of the experts.
  int64_t at(int64_t i) const {
    return sorted_[i].load(std::memory_order_relaxed);
  }
  Area area() const { return {Area::kChoices, index_, 0, UINT64_MAX}; }

 private:
  struct AtomicGroup {
    std::atomic<int32_t> expert{0}, first{0}, count{1};
  };

  const int32_t index_;
  const int32_t chunk_;
  std::vector<int32_t> begins_;               // [experts + 1]
  std::vector<std::atomic<int32_t>> sorted_;  // [most + chunk]
  std::vector<AtomicGroup> groups_;
  std::atomic<int64_t> count_{1};
};

}  // namespace rc::cpu
