#include "runtime/block_plan.h"

#include <algorithm>
#include <vector>

#include "base/checked.h"
#include "base/error.h"

namespace rc::runtime {

uint64_t place_blocks(std::span<Block*> blocks) {
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](Block* a, Block* b) { return a->bytes > b->bytes; });

  uint64_t total = 0;
  std::vector<const Block*> placed;  // by offset
  for (Block* block : blocks) {
    // The gaps lie between the placed blocks that live at the same time.
    uint64_t end = 0;
    uint64_t best_gap = static_cast<uint64_t>(-1);
    bool found = false;
    for (const Block* other : placed) {
      if (other->last < block->first || other->first > block->last) continue;
      if (other->offset > end) {
        const uint64_t gap = other->offset - end;
        if (gap >= block->bytes && gap < best_gap) {
          best_gap = gap;
          block->offset = end;
          found = true;
        }
      }
      end = std::max(end, other->offset + other->bytes);
    }
    if (!found) block->offset = end;
    const auto top = checked_add(block->offset, block->bytes);
    if (!top) {
      fail(RC_E_INVALID_ARGUMENT,
           "the scratch memory of a program is beyond what can be addressed");
    }
    total = std::max(total, *top);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), block,
                                   [](const Block* a, const Block* b) {
                                     return a->offset < b->offset;
                                   }),
                  block);
  }
  return total;
}

}  // namespace rc::runtime
