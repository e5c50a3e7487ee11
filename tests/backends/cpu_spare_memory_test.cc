#include "cpu/spare_memory.h"

#include <gtest/gtest.h>

#include <utility>

namespace rc::cpu {
namespace {

constexpr uint64_t kBytes = uint64_t{1} << 20;

TEST(SpareMemory, IsReusedForBlocksThatFit) {
  SpareMemory spare;
  SpareMemory::Block block = spare.take(kBytes);
  ASSERT_NE(block.memory, nullptr);
  EXPECT_EQ(block.bytes, kBytes);
  const uint8_t* const at = block.memory.get();
  spare.give_back(std::move(block));
  EXPECT_EQ(spare.kept_bytes(), kBytes);
  EXPECT_NE(spare.take(kBytes + 1).memory.get(), at) << "too small";
  EXPECT_NE(spare.take(kBytes / 2).memory.get(), at) << "far too large";
  SpareMemory::Block again = spare.take(kBytes - 100);
  EXPECT_EQ(again.memory.get(), at);
  EXPECT_EQ(again.bytes, kBytes);
  EXPECT_EQ(spare.kept_bytes(), 0u);
}

TEST(SpareMemory, KeepsTheNewestWithinBounds) {
  SpareMemory spare;
  SpareMemory::Block blocks[SpareMemory::kMostBlocks + 2];
  for (auto& block : blocks) block = spare.take(kBytes);
  const uint8_t* const last = blocks[SpareMemory::kMostBlocks + 1].memory.get();
  for (auto& block : blocks) spare.give_back(std::move(block));
  EXPECT_EQ(spare.kept_bytes(), SpareMemory::kMostBlocks * kBytes);
  EXPECT_EQ(spare.take(kBytes).memory.get(), last);

  spare.give_back(spare.take(SpareMemory::kLeastBytes - 1));
  spare.give_back(spare.take(SpareMemory::kMostBytes + 1));
  EXPECT_EQ(spare.kept_bytes(), (SpareMemory::kMostBlocks - 1) * kBytes);
  spare.give_back(spare.take(SpareMemory::kMostBytes));
  EXPECT_EQ(spare.kept_bytes(), SpareMemory::kMostBytes);
}

}  // namespace
}  // namespace rc::cpu
