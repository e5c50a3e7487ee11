// Waits of dispatches: in random programs each conflict between two stages is
// ordered by one wait or a chain of them, and nothing else is.
#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <vector>

#include "gpu/dispatch.h"
#include "host_driver/module/buffer.h"

namespace rc::gpu {
namespace {

constexpr Kernel kAnyKernel = Kernel::kMap;

uint32_t input_slot() {
  return static_cast<uint32_t>(std::bit_width(slots_of(kAnyKernel).inputs)) - 1;
}
uint32_t output_slot() {
  return static_cast<uint32_t>(std::bit_width(slots_of(kAnyKernel).outputs)) -
         1;
}

Dispatch dispatch_of(int32_t op, const std::vector<Region>& reads,
                     const std::vector<Region>& writes, bool after = false) {
  Dispatch dispatch = {};
  dispatch.op = op;
  dispatch.kernel = kAnyKernel;
  dispatch.after = after;
  for (const Region& region : reads) {
    dispatch.bindings.push_back({input_slot(), region});
  }
  for (const Region& region : writes) {
    dispatch.bindings.push_back({output_slot(), region});
  }
  return dispatch;
}

bool conflict(const Dispatch& a, const Dispatch& b) {
  for (const Binding& one : a.bindings) {
    for (const Binding& other : b.bindings) {
      if ((one.slot == output_slot() || other.slot == output_slot()) &&
          one.region.overlaps(other.region)) {
        return true;
      }
    }
  }
  return false;
}

// By dispatch: the number of its stage.
std::vector<int> stages_of(const std::vector<Dispatch>& dispatches) {
  std::vector<int> stages;
  int stage = -1;
  for (size_t i = 0; i < dispatches.size(); ++i) {
    stage += begins_stage(dispatches, i) ? 1 : 0;
    stages.push_back(stage);
  }
  return stages;
}

TEST(Waits, OrderTheStagesOfAnOp) {
  const host::Buffer buffer(64);
  const Region all = {&buffer, 0, 64};
  std::vector<Dispatch> dispatches = {
      dispatch_of(0, {}, {all}), dispatch_of(0, {}, {all}),
      dispatch_of(0, {all}, {}, true), dispatch_of(1, {all}, {}),
      dispatch_of(2, {}, {all})};
  find_waits(dispatches);
  EXPECT_EQ(stages_of(dispatches), (std::vector<int>{0, 0, 1, 2, 3}));
  using Numbers = std::vector<uint32_t>;
  EXPECT_EQ(dispatches[0].waits, Numbers{});
  EXPECT_EQ(dispatches[1].waits, Numbers{});
  EXPECT_EQ(dispatches[2].waits, (Numbers{0, 1}));
  EXPECT_EQ(dispatches[3].waits, (Numbers{0, 1}));
  EXPECT_EQ(dispatches[4].waits, (Numbers{0, 1, 2, 3}));
}

TEST(Waits, OrderConflictsOfRandomPrograms) {
  std::mt19937 random(7);
  const auto below = [&](uint32_t n) {
    return static_cast<uint32_t>(random() % n);
  };
  for (int round = 0; round < 300; ++round) {
    const host::Buffer buffers[] = {host::Buffer(64), host::Buffer(64),
                                    host::Buffer(64)};
    const auto regions = [&](uint32_t most) {
      std::vector<Region> found;
      for (uint32_t n = below(most + 1); n > 0; --n) {
        const uint64_t begin = below(64);
        found.push_back({&buffers[below(3)], begin,
                         1 + below(64 - static_cast<uint32_t>(begin))});
      }
      return found;
    };
    std::vector<Dispatch> dispatches;
    int32_t op = 0;
    for (int i = 0; i < 24; ++i) {
      op += below(3) == 0 ? 0 : 1;
      dispatches.push_back(
          dispatch_of(op, regions(2), regions(1), below(4) == 0));
    }
    find_waits(dispatches);
    const std::vector<int> stages = stages_of(dispatches);
    // By dispatch: those that it waits for, in the end.
    std::vector<std::vector<bool>> over;
    for (size_t i = 0; i < dispatches.size(); ++i) {
      over.emplace_back(i);
      for (const uint32_t wait : dispatches[i].waits) {
        ASSERT_LT(wait, i);
        EXPECT_LT(stages[wait], stages[i]);
        EXPECT_TRUE(conflict(dispatches[wait], dispatches[i]));
        over[i][wait] = true;
        for (size_t k = 0; k < wait; ++k) {
          if (over[wait][k]) over[i][k] = true;
        }
      }
      for (size_t k = 0; k < i; ++k) {
        if (stages[k] == stages[i] || !conflict(dispatches[k], dispatches[i])) {
          continue;
        }
        EXPECT_TRUE(over[i][k])
            << "round " << round << ": " << i << " and " << k;
      }
    }
  }
}

}  // namespace
}  // namespace rc::gpu
