// Data flow between ops: the writer and the readers of each value, where values
// share memory.
#include "cpu/flow.h"

#include <gtest/gtest.h>

namespace rc::cpu {
namespace {

rc_plugin_value value(int32_t storage, int32_t index, uint64_t offset,
                      int64_t elements) {
  rc_plugin_value made = {};
  made.dtype = RC_DTYPE_F32;
  made.rank = 1;
  made.shape[0] = elements;
  made.storage = storage;
  made.index = index;
  made.offset = offset;
  return made;
}

Op binary(int32_t a, int32_t b, int32_t y) {
  Op op;
  op.code = RC_OP_BINARY;
  op.inputs[0] = a;
  op.inputs[1] = b;
  op.outputs[0] = y;
  return op;
}

TEST(CpuFlow, FindsReadersAndOverwrittenValues) {
  const std::vector<rc_plugin_value> values = {
      value(RC_STORAGE_CACHE, 0, 0, 64),    // 0: given
      value(RC_STORAGE_SCRATCH, 1, 0, 64),  // 1
      value(RC_STORAGE_SCRATCH, 2, 256, 64),
      value(RC_STORAGE_SCRATCH, 3, 128, 64),  // 3: over half of 1 and of 2
      value(RC_STORAGE_CACHE, 1, 0, 64),      // 4: what is wanted
      value(RC_STORAGE_CACHE, 1, 128, 32),    // 5: half of that
      value(RC_STORAGE_SCRATCH, 6, 0, 32),    // 6: what is left of 1
      value(RC_STORAGE_SCRATCH, 7, 0, 128),   // 7: all of it
      value(RC_STORAGE_SCRATCH, 8, 1024, 64),
  };
  const std::vector<Op> ops = {
      binary(0, 0, 1),  // 0
      binary(1, 0, 2),  // 1
      binary(2, 0, 3),  // 2
      binary(3, 6, 4),  // 3
      binary(5, 7, 8),  // 4
  };
  const Flow flow(ops, values, [&](int32_t i) {
    return static_cast<uint64_t>(values[static_cast<size_t>(i)].shape[0]) * 4;
  });
  EXPECT_EQ(flow.source(0, 0).op, Flow::kNobody);
  EXPECT_EQ(flow.source(1, 0).op, 0u);
  EXPECT_TRUE(flow.source(1, 0).whole);
  EXPECT_EQ(flow.source(1, 1).op, Flow::kNobody);
  EXPECT_EQ(flow.source(2, 0).op, 1u);
  EXPECT_EQ(flow.source(3, 0).op, 2u);
  EXPECT_TRUE(flow.source(3, 0).whole);
  // Only the beginning of the result of op 0 is left.
  EXPECT_EQ(flow.source(3, 1).op, 0u);
  EXPECT_FALSE(flow.source(3, 1).whole);
  EXPECT_EQ(flow.source(4, 0).op, 3u);
  EXPECT_FALSE(flow.source(4, 0).whole);
  // Three have written of it.
  EXPECT_EQ(flow.source(4, 1).op, 2u);
  EXPECT_FALSE(flow.source(4, 1).whole);
  EXPECT_EQ(flow.last_reader(0), 4u);
  EXPECT_EQ(flow.last_reader(1), 4u);
  EXPECT_EQ(flow.last_reader(2), 4u);
  EXPECT_EQ(flow.last_reader(3), 4u);
  EXPECT_EQ(flow.last_reader(4), 4u);
}

}  // namespace
}  // namespace rc::cpu
