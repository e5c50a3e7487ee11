// Ops that the fast check of equal shapes accepts pass check_op; ops that were
// changed in one place are left to check_op.
#include "common/alike.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "base/error.h"

namespace rc::plugin {
namespace {

struct Call {
  Op op;
  std::vector<rc_plugin_value> values;

  explicit Call(int32_t code, int32_t function) {
    const int operands = code == RC_OP_BINARY ? 2 : 1;
    op.code = code;
    if (code == RC_OP_BINARY) {
      op.params.binary.function = function;
    } else {
      op.params.unary.function = function;
    }
    for (int k = 0; k <= operands; ++k) {
      rc_plugin_value value = {};
      value.dtype = RC_DTYPE_F32;
      value.rank = 3;
      value.shape[0] = 2;
      value.shape[1] = 3;
      value.shape[2] = 5;
      value.storage = RC_STORAGE_CACHE;
      value.index = k;
      values.push_back(value);
      if (k < operands) op.inputs[k] = k;
    }
    op.outputs[0] = operands;
  }
  bool obeys() const {
    try {
      check_op(op, values);
      return true;
    } catch (const Error&) {
      return false;
    }
  }
};

std::vector<Call> calls() {
  std::vector<Call> all;
  for (int32_t function = -1; function <= RC_BINARY_GREATER_EQUAL + 1;
       ++function) {
    all.emplace_back(RC_OP_BINARY, function);
  }
  for (int32_t function = -1; function <= RC_UNARY_NEG + 1; ++function) {
    all.emplace_back(RC_OP_UNARY, function);
  }
  return all;
}

TEST(Alike, AcceptedOpsPassCheckOp) {
  int taken = 0;
  for (const Call& call : calls()) {
    const auto bytes = bytes_of_alike(call.op, call.values);
    if (!bytes) continue;
    ++taken;
    EXPECT_TRUE(call.obeys());
    EXPECT_EQ(*bytes, 2u * 3 * 5 * sizeof(float));
  }
  EXPECT_EQ(taken, 4 + 7);
}

TEST(Alike, OpsThatFailCheckOpAreNotAccepted) {
  const std::vector<std::function<void(Call&)>> changes = {
      [](Call& c) { c.values.back().dtype = RC_DTYPE_I32; },
      [](Call& c) { c.values.front().dtype = RC_DTYPE_I32; },
      [](Call& c) { c.values.back().shape[1] = 4; },
      [](Call& c) { c.values.front().shape[2] = 1; },
      [](Call& c) { c.values.back().rank = 2; },
      [](Call& c) { c.values.back().storage = RC_STORAGE_WEIGHT; },
      [](Call& c) { c.values.pop_back(); },
      [](Call& c) { c.values.push_back(c.values.back()); },
      [](Call& c) { c.op.inputs[0] = 7; },
      [](Call& c) { c.op.inputs[0] = -1; },
      [](Call& c) { c.op.inputs[2] = 0; },
      [](Call& c) { c.op.outputs[1] = 0; },
      [](Call& c) { c.op.outputs[0] = 0; },
      [](Call& c) { c.op.code = RC_OP_WHERE; },
      [](Call& c) {
        for (rc_plugin_value& value : c.values) value.rank = 0;
      },
      [](Call& c) {
        for (rc_plugin_value& value : c.values) {
          value.rank = RC_PLUGIN_MAX_RANK + 1;
        }
      },
      [](Call& c) {
        for (rc_plugin_value& value : c.values) value.shape[1] = 0;
      },
      [](Call& c) {
        for (rc_plugin_value& value : c.values) value.shape[0] = RC_DIM_ROWS;
      },
      [](Call& c) {
        for (rc_plugin_value& value : c.values) {
          value.shape[0] = value.shape[1] = int64_t{1} << 40;
        }
      },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    for (const int32_t code : {RC_OP_BINARY, RC_OP_UNARY}) {
      Call call(code, RC_FUNCTION_RELU);
      ASSERT_TRUE(bytes_of_alike(call.op, call.values));
      changes[i](call);
      EXPECT_FALSE(bytes_of_alike(call.op, call.values)) << "change " << i;
    }
  }
}

}  // namespace
}  // namespace rc::plugin
