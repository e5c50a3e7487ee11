// Work of ops, counted by hand.
#include "tensor/op_work.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tensor/dtype.h"

namespace rc {
namespace {

rc_plugin_value cached_value(DType dtype, const std::vector<int64_t>& shape) {
  rc_plugin_value made = {};
  made.dtype = dtype;
  made.rank = static_cast<int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), made.shape);
  made.storage = RC_STORAGE_CACHE;
  return made;
}

// The last value is the output, the others are the inputs.
Op op_of(int32_t code, size_t values) {
  Op op;
  op.code = code;
  for (size_t i = 0; i + 1 < values; ++i) {
    op.inputs[i] = static_cast<int32_t>(i);
  }
  op.outputs[0] = static_cast<int32_t>(values - 1);
  return op;
}

OpWork work_of_op(const Op& op, const std::vector<rc_plugin_value>& values) {
  const auto work = work_of(op, values);
  EXPECT_TRUE(work.has_value());
  return work.value_or(OpWork{});
}

constexpr DType kF32 = RC_DTYPE_F32;

TEST(OpWork, CountsProducts) {
  // 2 products of [3, 8] and [8, 5].
  const std::vector<rc_plugin_value> values = {cached_value(kF32, {2, 3, 8}),
                                               cached_value(kF32, {2, 8, 5}),
                                               cached_value(kF32, {2, 3, 5})};
  const OpWork work = work_of_op(op_of(RC_OP_MATMUL, 3), values);
  EXPECT_EQ(work.multiplications, 2 * 3 * 8 * 5);
  EXPECT_EQ(work.bytes, 4.0 * (48 + 80 + 30));
  EXPECT_EQ(work.kind, NumberKind::kF32);
  ASSERT_EQ(work.part_count, 2);
  EXPECT_EQ(work.parts[0].family, OpFamily::kProductsF32);
  EXPECT_EQ(work.parts[0].units, 240);
  EXPECT_EQ(work.parts[1].family, OpFamily::kVectorsF32);
  EXPECT_EQ(work.parts[1].units, 80);
}

TEST(OpWork, FamilyOfProductsFollowsTheRightOperand) {
  const auto of = [](DType dtype) {
    const std::vector<rc_plugin_value> values = {
        cached_value(kF32, {1, 1, 256}), cached_value(dtype, {1, 4, 256}),
        cached_value(kF32, {1, 1, 4})};
    Op op = op_of(RC_OP_MATMUL, 3);
    op.params.matmul.transposed = 1;
    return work_of_op(op, values);
  };
  EXPECT_EQ(of(RC_DTYPE_BF16).parts[0].family, OpFamily::kProductsF16);
  EXPECT_EQ(of(RC_DTYPE_BF16).kind, NumberKind::kF16);
  EXPECT_EQ(of(RC_DTYPE_Q8_0).parts[1].family, OpFamily::kVectorsQ8);
  const OpWork blocks = of(RC_DTYPE_Q4_K);
  EXPECT_EQ(blocks.parts[1].family, OpFamily::kVectorsQ4);
  EXPECT_EQ(blocks.parts[1].units, 1024);
  EXPECT_EQ(blocks.kind, NumberKind::kBlocks);
  // A block of 256 has 144 bytes.
  EXPECT_EQ(blocks.bytes, 4 * 144 + 4.0 * (256 + 4));
}

TEST(OpWork, CountsElements) {
  std::vector<rc_plugin_value> values = {cached_value(kF32, {4, 5}),
                                         cached_value(kF32, {5}),
                                         cached_value(kF32, {4, 5})};
  Op op = op_of(RC_OP_BINARY, 3);
  op.params.binary.function = RC_BINARY_ADD;
  OpWork work = work_of_op(op, values);
  EXPECT_EQ(work.parts[0].family, OpFamily::kElements);
  EXPECT_EQ(work.parts[0].units, 4 * (20 + 5 + 20));
  op.params.binary.function = RC_BINARY_POW;
  work = work_of_op(op, values);
  EXPECT_EQ(work.parts[0].family, OpFamily::kPowers);
  EXPECT_EQ(work.parts[0].units, 20);

  values.erase(values.begin() + 1);
  Op unary = op_of(RC_OP_UNARY, 2);
  unary.params.unary.function = RC_FUNCTION_TANH;
  EXPECT_EQ(work_of_op(unary, values).parts[0].family, OpFamily::kExponentials);
  unary.params.unary.function = RC_UNARY_LOG;
  EXPECT_EQ(work_of_op(unary, values).parts[0].family, OpFamily::kSpecials);
}

TEST(OpWork, CountsLines) {
  const auto family = [](int32_t code, int64_t outer, int64_t n,
                         int64_t inner) {
    std::vector<rc_plugin_value> values = {
        cached_value(kF32, {outer, n, inner}),
        cached_value(kF32, {outer, inner})};
    if (code == RC_OP_SOFTMAX) values[1] = values[0];
    const OpWork work = work_of_op(op_of(code, 2), values);
    EXPECT_EQ(work.parts[0].units, static_cast<double>(outer * n * inner));
    return work.parts[0].family;
  };
  EXPECT_EQ(family(RC_OP_SOFTMAX, 8, 10, 1), OpFamily::kSoftmaxLines);
  EXPECT_EQ(family(RC_OP_SOFTMAX, 8, 10, 2), OpFamily::kSoftmaxAcross);
  EXPECT_EQ(family(RC_OP_REDUCE, 100, 10, 1), OpFamily::kReduceLines);
  EXPECT_EQ(family(RC_OP_REDUCE, 1, 10, 100), OpFamily::kReduceAcross);
  EXPECT_EQ(family(RC_OP_REDUCE, 1, 1000, 1), OpFamily::kReduceWhole);
  EXPECT_EQ(family(RC_OP_ARGMAX, 100, 10, 1), OpFamily::kArgmaxLines);
  EXPECT_EQ(family(RC_OP_ARGMAX, 1, 1000, 2), OpFamily::kArgmaxWhole);
}

TEST(OpWork, CountsSorting) {
  std::vector<rc_plugin_value> values = {cached_value(kF32, {2, 1024, 1}),
                                         cached_value(RC_DTYPE_I32, {2, 8, 1})};
  OpWork work = work_of_op(op_of(RC_OP_ORDER, 2), values);
  EXPECT_EQ(work.parts[0].family, OpFamily::kArgmaxLines);
  EXPECT_EQ(work.parts[0].units, 2048 * 10);
  values[1] = values[0];
  work = work_of_op(op_of(RC_OP_CUMSUM, 2), values);
  EXPECT_EQ(work.parts[0].units, 2048);
  values[1] = cached_value(kF32, {2, 1030, 1});
  EXPECT_EQ(work_of_op(op_of(RC_OP_PAD, 2), values).parts[0].family,
            OpFamily::kCopies);
}

TEST(OpWork, CountsConvolutions) {
  std::vector<rc_plugin_value> values = {cached_value(kF32, {1, 6, 8, 8}),
                                         cached_value(kF32, {4, 6, 3, 3}),
                                         cached_value(kF32, {1, 4, 6, 6})};
  Op op = op_of(RC_OP_CONV2D, 3);
  op.params.conv2d.groups = 1;
  OpWork work = work_of_op(op, values);
  EXPECT_EQ(work.multiplications, 4 * 36 * 6 * 9);
  EXPECT_EQ(work.parts[0].family, OpFamily::kConvolutions);
  values[1] = cached_value(kF32, {6, 1, 3, 3});
  values[2] = cached_value(kF32, {1, 6, 6, 6});
  op.params.conv2d.groups = 6;
  work = work_of_op(op, values);
  EXPECT_EQ(work.multiplications, 6 * 36 * 9);
  EXPECT_EQ(work.parts[0].family, OpFamily::kDepthwise);
}

TEST(OpWork, CountsAttention) {
  std::vector<rc_plugin_value> values = {
      cached_value(kF32, {2, 3, 4, 8}), cached_value(kF32, {2, 5, 2, 8}),
      cached_value(kF32, {2, 5, 2, 8}), cached_value(kF32, {2, 3, 4, 8})};
  // q k and the sum of v: each 2 x 3 x 4 heads, 5 positions, 8 numbers.
  EXPECT_EQ(work_of_op(op_of(RC_OP_ATTEND, 4), values).multiplications,
            2 * (2 * 3 * 4 * 5 * 8));
}

TEST(OpWork, CountsGatheredRows) {
  const std::vector<rc_plugin_value> values = {cached_value(kF32, {1000, 16}),
                                               cached_value(RC_DTYPE_I32, {10}),
                                               cached_value(kF32, {10, 16})};
  const OpWork work = work_of_op(op_of(RC_OP_GET_ROWS, 3), values);
  EXPECT_DOUBLE_EQ(work.bytes, 4 * (10 + 2 * 160));
  EXPECT_EQ(work.parts[0].units, 4 * 160);
}

TEST(OpWork, CoversEveryTensorOp) {
  for (int32_t code = 0; code < 100; ++code) {
    const OpSchema* schema = find_op(code);
    if (schema == nullptr || !schema->tensors.exists()) continue;
    // Four dimensions each are enough to count.
    std::vector<rc_plugin_value> values;
    for (int i = 0; i <= schema->inputs(); ++i) {
      values.push_back(cached_value(kF32, {2, 2, 2, 2}));
    }
    EXPECT_TRUE(work_of(op_of(code, values.size()), values).has_value())
        << schema->name;
  }
  EXPECT_FALSE(
      work_of(op_of(RC_OP_GLU, 3), std::vector(3, cached_value(kF32, {2})))
          .has_value());
}

TEST(OpWork, FamiliesHaveNames) {
  std::set<std::string> names;
  for (size_t i = 0; i < kOpFamilies; ++i) {
    const auto family = static_cast<OpFamily>(i);
    EXPECT_TRUE(names.insert(op_family_name(family)).second);
    EXPECT_EQ(find_op_family(op_family_name(family)), family);
  }
  EXPECT_FALSE(find_op_family("").has_value());
  EXPECT_FALSE(find_op_family("elementary").has_value());
}

}  // namespace
}  // namespace rc
