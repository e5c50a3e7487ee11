// Ops on their way into and out of the plugin ABI.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "tensor/op.h"
#include "tensor/op_schema.h"
#include "tensor/plugin_arrays.h"

namespace rc {
namespace {

std::vector<int32_t> codes() {
  std::vector<int32_t> codes;
  for (int32_t code = -3; code < 100; ++code) {
    if (find_op(code) != nullptr) codes.push_back(code);
  }
  return codes;
}

TEST(PluginOp, NamesAllInputsOfItsOp) {
  for (const int32_t code : codes()) {
    Op op;
    op.code = code;
    op.inputs[0] = 7;
    op.params.conv2d.groups = 12;
    const rc_plugin_op given = plugin_op(op);
    const OpSchema& schema = *find_op(code);
    EXPECT_EQ(given.code, code);
    ASSERT_EQ(given.input_count, static_cast<size_t>(schema.inputs()));
    ASSERT_EQ(given.output_count, static_cast<size_t>(schema.outputs()));
    EXPECT_EQ(given.inputs[0], 7);
    for (int i = 1; i < schema.inputs(); ++i) EXPECT_EQ(given.inputs[i], -1);
    const Op back = op_from(given);
    EXPECT_EQ(back.code, code);
    EXPECT_TRUE(std::equal(back.inputs, back.inputs + kMaxInputs, op.inputs));
    EXPECT_TRUE(
        std::equal(back.outputs, back.outputs + kMaxOutputs, op.outputs));
    EXPECT_EQ(back.params.conv2d.groups, 12);
  }
}

// The checks of the op must see these inputs.
TEST(PluginOp, ContainsInputsBeyondTheSchema) {
  Op op;
  op.code = RC_OP_SCALE;
  op.inputs[0] = 1;
  op.inputs[4] = 2;
  op.outputs[1] = 3;
  const rc_plugin_op given = plugin_op(op);
  ASSERT_EQ(given.input_count, 5u);
  EXPECT_EQ(given.inputs[4], 2);
  ASSERT_EQ(given.output_count, 2u);
  EXPECT_EQ(given.outputs[1], 3);
}

TEST(PluginOp, TakesMoreInputsOfANewerLibrary) {
  std::vector<int32_t> inputs(12, -1);
  inputs[0] = 3;
  const rc_plugin_params params = {};
  rc_plugin_op given = {};
  given.code = 1000;
  given.inputs = inputs.data();
  given.input_count = inputs.size();
  given.params = &params;
  EXPECT_EQ(op_from(given).inputs[0], 3);
  inputs[11] = 4;
  try {
    static_cast<void>(op_from(given));
    ADD_FAILURE() << "an input was lost";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_UNSUPPORTED);
  }
}

TEST(PluginArrays, PointIntoTheGivenArrays) {
  std::vector<rc_plugin_value> values(3);
  values[2].rank = 4;
  std::vector<Op> ops(2);
  ops[1].code = RC_OP_ADD;
  const PluginArrays arrays(values, ops);
  rc_plugin_program program = {};
  arrays.put_into(program);
  ASSERT_EQ(program.value_count, 3u);
  EXPECT_EQ(program.values[2], &values[2]);
  ASSERT_EQ(program.op_count, 2u);
  EXPECT_EQ(program.ops[1]->code, RC_OP_ADD);
  EXPECT_EQ(program.ops[1]->params, &ops[1].params);
}

}  // namespace
}  // namespace rc
