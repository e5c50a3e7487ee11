// Elementwise tensor ops that follow one another, done together: block by block
// of elements, each with all the ops, so that what lies between them stays in a
// thread's cache. Each element becomes what it would become op by op.
//
// Results that only the chain itself reads have no place in memory but a *slot*
// of each thread's, of one block; the others are written where they belong.
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/elements.h"
#include "cpu/step.h"
#include "tensor/op.h"

namespace rc::cpu {

class Compiler;

class Chain {
 public:
  // As many of the ops from `first` on, which is an elementwise one of tensors,
  // as can be done together.
  Chain(Compiler& compiler, size_t first);

  size_t length() const { return links_.size(); }
  const std::vector<Area>& reads() const { return reads_; }
  const std::vector<Area>& writes() const { return writes_; }
  int64_t cost() const { return cost_; }
  int64_t blocks() const { return (elements_ + kBlock - 1) / kBlock; }
  // Of a thread.
  uint64_t scratch_bytes() const {
    return static_cast<uint64_t>(slots_) * kBlock * sizeof(float);
  }

  // Does all ops for a block; `slots` is the thread's scratch.
  void work(const Run& run, int64_t block, float* slots) const;

 private:
  static constexpr int64_t kBlock = 4096;  // elements, 16 KB
  // With more than these slots blocks would not stay in a cache.
  static constexpr int kMostSlots = 8;
  static constexpr int kMemory = -1;

  // An operand or a result.
  struct Spot {
    int slot = kMemory;
    Place place = {};
  };
  struct Link {
    Elements elements;
    Spot from[Elements::kMost];
    Spot to;
    int at_hand = 0;  // the operand that the one before in its group makes
  };

  // Links first to end, which are done together if they are more than one: each
  // is of what the one before makes, of which there is one number per element.
  struct Group {
    size_t first, end;
  };

  class Links;
  size_t link(Compiler& compiler, const Links& links, size_t first, size_t end);
  void find_groups(const Links& links, size_t first);
  // The operand of a link that the link before makes for it alone; -1: none.
  int handed_on(const Links& links, size_t first, size_t link) const;
  void compute(const Run& run, const Link& link, int64_t begin, int64_t count,
               float* slots) const;
  void compute(const Run& run, const Group& group, int64_t begin, int64_t count,
               float* slots) const;

  int64_t elements_;  // of each result
  int64_t cost_ = 0;
  int slots_ = 0;
  std::vector<Link> links_;
  std::vector<Group> groups_;
  std::vector<Area> reads_, writes_;
};

}  // namespace rc::cpu
