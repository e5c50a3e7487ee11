// Scratch memory by lifetime. Values that show the same bytes, because one is
// the other's reshape or because an op works in place, make one block; a block
// lives from the op that first writes it to the op that last reads it.
#include <algorithm>

#include "base/checked.h"
#include "base/error.h"
#include "runtime/block_plan.h"
#include "runtime/program.h"

namespace rc::runtime {
namespace {

constexpr size_t kNever = static_cast<size_t>(-1);

class ScratchPlan {
 public:
  ScratchPlan(ProgramDescription& description, const ProgramLimits& limits)
      : values_(description.values), ops_(description.ops) {
    if (limits.max_rows < 0 || limits.max_outputs < 0 ||
        limits.max_sequences < 0) {
      fail(RC_E_INVALID_ARGUMENT,
           "limits of a program below zero: ", limits.max_rows, " rows, ",
           limits.max_outputs, " outputs, ", limits.max_sequences,
           " sequences");
    }
    rows_ = {limits.max_rows, limits.max_outputs, limits.max_sequences};
  }

  uint64_t run() {
    find_lifetimes();
    share_in_place();
    return place();
  }

 private:
  // The value whose bytes this one shows, if it is scratch; else -1.
  Value base(Value value) const {
    if (value < 0 || values_[value].storage != RC_STORAGE_SCRATCH) return -1;
    return values_[value].index;
  }
  // The block of a base: in-place ops have handed it on.
  size_t block(Value base) const {
    size_t found = base;
    while (handed_on_[found] != found) found = handed_on_[found];
    return found;
  }

  void find_lifetimes();
  void share_in_place();
  bool shareable(size_t op, int input) const;
  uint64_t place();

  std::vector<rc_plugin_value>& values_;
  const std::vector<Op>& ops_;
  Rows rows_;
  std::vector<Block> blocks_;      // by number of the base; times are ops
  std::vector<size_t> handed_on_;  // block whose bytes a block takes
};

void ScratchPlan::find_lifetimes() {
  blocks_.assign(values_.size(), Block{.first = kNever});
  handed_on_.resize(values_.size());
  for (size_t i = 0; i < values_.size(); ++i) handed_on_[i] = i;
  for (size_t i = 0; i < values_.size(); ++i) {
    const Value owner = base(static_cast<Value>(i));
    if (owner < 0) continue;
    if (static_cast<size_t>(owner) >= values_.size()) {
      fail(RC_E_INVALID_ARGUMENT, "value ", i, " shows the bytes of value ",
           owner, ", which does not exist");
    }
    const auto bytes = value_bytes(values_[i], rows_);
    const auto aligned =
        bytes ? checked_align(*bytes, Block::kAlignment) : std::nullopt;
    if (!aligned) {
      fail(RC_E_INVALID_ARGUMENT, "value ", i, ", ", value_text(values_[i]),
           ", is too large with ", rows_.rows, " rows and ", rows_.outputs,
           " outputs");
    }
    blocks_[owner].bytes = std::max(blocks_[owner].bytes, *aligned);
  }
  for (size_t i = 0; i < ops_.size(); ++i) {
    for (Value input : ops_[i].inputs) {
      const Value owner = base(input);
      if (owner < 0) continue;
      if (blocks_[owner].first == kNever) {
        fail(RC_E_INVALID_ARGUMENT, op_name(ops_[i].code), " (op ", i,
             ") reads value ", input, " before any op has written it");
      }
      blocks_[owner].last = i;
    }
    for (Value output : ops_[i].outputs) {
      const Value owner = base(output);
      if (owner < 0) continue;
      blocks_[owner].first = std::min(blocks_[owner].first, i);
      blocks_[owner].last = i;
    }
  }
}

// Whether no later op needs the input, and the op reads its bytes
// nowhere else than where it may overwrite them.
bool ScratchPlan::shareable(size_t op, int input) const {
  const Value owner = base(ops_[op].inputs[input]);
  if (owner < 0 || !may_share(ops_[op].code, input)) return false;
  const size_t shared = block(owner);
  if (blocks_[shared].last != op) return false;
  for (int i = 0; i < kMaxInputs; ++i) {
    const Value other = base(ops_[op].inputs[i]);
    if (other >= 0 && block(other) == shared && !may_share(ops_[op].code, i)) {
      return false;
    }
  }
  return true;
}

void ScratchPlan::share_in_place() {
  for (size_t i = 0; i < ops_.size(); ++i) {
    const Value output = base(ops_[i].outputs[0]);
    // An output that was written before is not this op's to place.
    if (output < 0 || blocks_[output].first != i) continue;
    for (int input = 0; input < kMaxInputs; ++input) {
      if (!shareable(i, input)) continue;
      const size_t shared = block(base(ops_[i].inputs[input]));
      if (blocks_[shared].bytes != blocks_[output].bytes) continue;
      blocks_[shared].last = blocks_[output].last;
      handed_on_[output] = shared;
      break;
    }
  }
}

uint64_t ScratchPlan::place() {
  std::vector<Block*> order;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    if (blocks_[i].first != kNever && handed_on_[i] == i) {
      order.push_back(&blocks_[i]);
    }
  }
  const uint64_t total = place_blocks(order);
  for (size_t i = 0; i < values_.size(); ++i) {
    const Value owner = base(static_cast<Value>(i));
    if (owner >= 0) values_[i].offset = blocks_[block(owner)].offset;
  }
  return total;
}

}  // namespace

uint64_t plan_scratch(ProgramDescription& description,
                      const ProgramLimits& limits) {
  return ScratchPlan(description, limits).run();
}

}  // namespace rc::runtime
