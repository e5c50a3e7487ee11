// Copies of the experts of a mapped weight that were used last, in tiles.
//
// Which expert has which copy is chosen by one thread before a product, by
// steps that no thread does late; so it is as plain memory.
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/choices.h"
#include "cpu/memory.h"
#include "cpu/nodes.h"

namespace rc::cpu {

class HotExperts {
 public:
  // `copies` of `experts`, each of so many bytes, on `nodes`.
  HotExperts(int64_t experts, int64_t copies, uint64_t expert_bytes,
             const Nodes& nodes);

  // Gives the experts of a product copies, as far as there are any: those that
  // have one keep it, and the others get those that were used longest ago.
  void choose(const Choices& choices);

  // The experts whose copies are to be made, chosen by the last choose().
  int64_t missing() const { return static_cast<int64_t>(missing_.size()); }
  int64_t missing(int64_t i) const { return missing_[i]; }
  // After these have been made.
  void made() { missing_.clear(); }

  // Where an expert's copy lies; nullptr: it has none.
  uint8_t* copy_of(int64_t expert) const {
    const int32_t copy = copies_[expert];
    return copy < 0 ? nullptr : memory_.get() + copy * expert_bytes_;
  }

 private:
  struct Copy {
    int32_t expert = -1;
    uint64_t used = 0;  // in which product
  };

  const uint64_t expert_bytes_;
  const Memory64 memory_;
  std::vector<int32_t> copies_;  // by expert; -1: none
  std::vector<Copy> held_;
  std::vector<int32_t> missing_;
  std::vector<int32_t> wanting_;
  uint64_t product_ = 0;
};

}  // namespace rc::cpu
