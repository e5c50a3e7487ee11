// Places of blocks that live for a part of the time.
#include "runtime/block_plan.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"

namespace rc::runtime {
namespace {

struct Placed {
  std::vector<uint64_t> offsets;
  uint64_t total = 0;
  bool operator==(const Placed&) const = default;
};

// By the order in which they are given.
Placed place(std::vector<Block> blocks) {
  std::vector<Block*> order;
  for (Block& block : blocks) order.push_back(&block);
  Placed placed;
  placed.total = place_blocks(order);
  for (const Block& block : blocks) placed.offsets.push_back(block.offset);
  return placed;
}

TEST(BlockPlan, BlocksLiveAtOnceDoNotOverlap) {
  EXPECT_EQ(place({}), (Placed{{}, 0}));
  EXPECT_EQ(place({{0, 0, 64, 0}}), (Placed{{0}, 64}));
  EXPECT_EQ(place({{0, 1, 64, 0}, {1, 2, 64, 0}}), (Placed{{0, 64}, 128}));
  // The first has ended when the second begins.
  EXPECT_EQ(place({{0, 1, 64, 0}, {2, 3, 64, 0}}), (Placed{{0, 0}, 64}));
  EXPECT_EQ(place({{2, 3, 64, 0}, {0, 1, 64, 0}}), (Placed{{0, 0}, 64}));
}

TEST(BlockPlan, LargerBlocksArePlacedFirst) {
  EXPECT_EQ(place({{0, 0, 64, 0}, {0, 0, 128, 0}}), (Placed{{128, 0}, 192}));
}

TEST(BlockPlan, AGapThatFitsExactlyIsTaken) {
  // The second lies behind the first, which has ended when the third begins.
  EXPECT_EQ(place({{0, 1, 128, 0}, {1, 2, 128, 0}, {2, 3, 128, 0}}),
            (Placed{{0, 128, 0}, 256}));
  // A gap of 128 bytes is too small for one of 192, which was placed before.
  EXPECT_EQ(place({{0, 1, 192, 0}, {1, 2, 128, 0}, {2, 3, 192, 0}}),
            (Placed{{0, 192, 0}, 320}));
}

TEST(BlockPlan, TheSmallestGapThatFitsIsTaken) {
  // At time 5 there are two gaps, of 256 bytes at 512 and of 128 bytes at 1024:
  // the blocks that were there have ended.
  const std::vector<Block> blocks = {{0, 5, 512, 0}, {0, 0, 256, 0},
                                     {0, 5, 256, 0}, {0, 0, 128, 0},
                                     {0, 5, 128, 0}, {5, 5, 64, 0}};
  EXPECT_EQ(place(blocks), (Placed{{0, 512, 768, 1024, 1152, 1024}, 1280}));
}

TEST(BlockPlan, AreasEndWithin64Bits) {
  constexpr uint64_t kMost = UINT64_MAX - 63;  // of whole units of 64
  EXPECT_EQ(place({{0, 0, kMost - 64, 0}, {0, 0, 64, 0}}),
            (Placed{{0, kMost - 64}, kMost}));
  try {
    place({{0, 0, kMost - 64, 0}, {0, 0, 128, 0}});
    ADD_FAILURE() << "it was placed";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT);
    EXPECT_EQ(error.message(),
              "the scratch memory of a program is beyond what can be "
              "addressed");
  }
}

}  // namespace
}  // namespace rc::runtime
