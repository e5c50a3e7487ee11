// Positions, sequences and page tables that lead out of a cache are refused.
#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"
#include "runtime/program.h"
#include "runtime/registry.h"

namespace rc::runtime {
namespace {

constexpr int64_t kPages = 3;
constexpr int64_t kPageSize = 4;

class ReferenceCacheTest : public testing::TestWithParam<bool> {
 protected:
  // A CACHE_STORE or an ATTENTION over two sequences of two pages each.
  ReferenceCacheTest() {
    ProgramBuilder builder;
    const Value x = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 1, 2});
    const Value p = builder.input(RC_DTYPE_I32, {RC_DIM_ROWS});
    const Value s = builder.input(RC_DTYPE_I32, {RC_DIM_ROWS});
    const Value t = builder.input(RC_DTYPE_I32, {RC_DIM_SEQUENCES, 2});
    const Value c = builder.cache(RC_DTYPE_F32, {kPages, 1, kPageSize, 2});
    if (GetParam()) {
      builder.output(builder.attention(x, c, c, p, s, t, 1, 0, 0));
    } else {
      builder.cache_store(x, p, s, t, c);
    }
    const auto device = select({"reference", 0, {}}).device;
    program_ = Program::compile(
        device, std::move(builder).take(), {1, 0, 2}, {},
        {device->create_buffer(kPages * kPageSize * 2 * sizeof(float))});
  }

  rc_status run(int32_t position, int32_t sequence,
                const std::vector<int32_t>& table) {
    const float x[2] = {1, 2};
    float y[2];
    RunArguments arguments = {
        1, 0, 2, {x, &position, &sequence, table.data()}, {}};
    if (GetParam()) arguments.outputs_data = {y};
    try {
      program_->run(arguments, -1);
    } catch (const Error& error) {
      return error.status();
    }
    return RC_OK;
  }

  std::unique_ptr<Program> program_;
};

TEST_P(ReferenceCacheTest, PositionsAndPagesOutsideOfTheCacheAreRefused) {
  const std::vector<int32_t> table = {0, 1, 2, 0};
  EXPECT_EQ(run(0, 0, table), RC_OK);
  EXPECT_EQ(run(7, 1, table), RC_OK);
  for (int32_t position : {8, -1, INT32_MAX, INT32_MIN}) {
    EXPECT_EQ(run(position, 0, table), RC_E_INVALID_ARGUMENT) << position;
  }
  for (int32_t sequence : {2, -1, INT32_MAX, INT32_MIN}) {
    EXPECT_EQ(run(0, sequence, table), RC_E_INVALID_ARGUMENT) << sequence;
  }
  for (int32_t page : {3, -1, INT32_MAX, INT32_MIN}) {
    EXPECT_EQ(run(0, 0, {page, 1, 2, 0}), RC_E_INVALID_ARGUMENT) << page;
    // Page table entries beyond the position are not checked.
    EXPECT_EQ(run(3, 0, {0, page, 2, 0}), RC_OK) << page;
  }
}

INSTANTIATE_TEST_SUITE_P(StoreAndAttention, ReferenceCacheTest,
                         testing::Bool());

}  // namespace
}  // namespace rc::runtime
