#include "device/program_rules_util.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "runtime/registry.h"
#include "tensor/plugin_arrays.h"

namespace rc::test {
namespace {

rc_plugin_value value_of(int32_t storage, int32_t index, DType dtype,
                         const std::vector<int64_t>& shape) {
  rc_plugin_value value = {};
  value.dtype = dtype;
  value.rank = static_cast<int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), value.shape);
  value.storage = storage;
  value.index = index;
  return value;
}

// A program of one op that carries a state, with a cache of 64 bytes: all that
// it needs but for its values and the op.
class StateProgram {
 public:
  StateProgram(const rc_plugin& plugin, rc_plugin_device* device,
               const std::vector<std::vector<int64_t>>& weight_shapes)
      : plugin_(plugin), device_(device) {
    const std::vector<float> data(16, 1);
    for (const std::vector<int64_t>& shape : weight_shapes) {
      rc_plugin_weight_info info = {};
      info.name = "w";
      info.dtype = RC_DTYPE_F32;
      info.rank = static_cast<int32_t>(shape.size());
      std::copy(shape.begin(), shape.end(), info.shape);
      info.uses = RC_USE_ELEMENTS;
      rc_plugin_weight* made = nullptr;
      EXPECT_EQ(
          plugin.create_weight(device, &info, data.data(), &made, message_),
          RC_OK)
          << message_;
      weights_.push_back(made);
    }
    EXPECT_EQ(plugin.create_buffer(device, 64, &buffer_, message_), RC_OK)
        << message_;
  }
  ~StateProgram() {
    plugin_.destroy_buffer(device_, buffer_);
    for (rc_plugin_weight* weight : weights_) {
      plugin_.destroy_weight(device_, weight);
    }
  }
  StateProgram(const StateProgram&) = delete;
  StateProgram& operator=(const StateProgram&) = delete;

  // The number of inputs.
  int32_t inputs = 0;
  std::vector<rc_plugin_value> values;
  std::vector<Op> ops;

  rc_plugin_value input(DType dtype, const std::vector<int64_t>& shape) {
    return value_of(RC_STORAGE_INPUT, inputs++, dtype, shape);
  }

  rc_status compile() {
    rc_plugin_program program = {};
    program.struct_size = sizeof program;
    program.weights = weights_.data();
    program.weight_count = static_cast<int32_t>(weights_.size());
    program.caches = &buffer_;
    program.cache_count = 1;
    program.input_count = inputs;
    program.output_count = 1;
    program.max_rows = 8;
    program.max_sequences = 2;
    const PluginArrays arrays(values, ops);
    arrays.put_into(program);
    std::memset(message_, 0, sizeof message_);
    rc_plugin_compiled* made = nullptr;
    const rc_status status =
        plugin_.compile(device_, &program, &made, message_);
    if (status == RC_OK) {
      plugin_.destroy_compiled(device_, made);
    } else {
      EXPECT_EQ(made, nullptr);
      EXPECT_STRNE(message_, "");
    }
    return status;
  }

  // It compiles; and with each of the spoilers, by itself, it does not.
  void expect_checked(const std::vector<std::function<void()>>& spoilers) {
    const std::vector<rc_plugin_value> sound_values = values;
    const std::vector<Op> sound_ops = ops;
    ASSERT_EQ(compile(), RC_OK) << message_;
    for (size_t i = 0; i < spoilers.size(); ++i) {
      spoilers[i]();
      EXPECT_EQ(compile(), RC_E_INVALID_ARGUMENT)
          << op_name(ops[0].code) << ", spoiler " << i << ": " << message_;
      values = sound_values;
      ops = sound_ops;
    }
    EXPECT_EQ(compile(), RC_OK) << message_;
  }

 private:
  const rc_plugin& plugin_;
  rc_plugin_device* device_;
  std::vector<rc_plugin_weight*> weights_;
  rc_plugin_buffer* buffer_ = nullptr;
  char message_[RC_PLUGIN_MESSAGE_BYTES] = "";
};

void expect_convolutions_are_checked(const rc_plugin& plugin,
                                     rc_plugin_device* device) {
  StateProgram made(plugin, device, {{4, 3}, {4}});
  std::vector<rc_plugin_value>& values = made.values;
  std::vector<Op>& ops = made.ops;
  values = {made.input(RC_DTYPE_F32, {RC_DIM_ROWS, 4}),
            value_of(RC_STORAGE_WEIGHT, 0, RC_DTYPE_F32, {4, 3}),
            value_of(RC_STORAGE_WEIGHT, 1, RC_DTYPE_F32, {4}),
            made.input(RC_DTYPE_I32, {RC_DIM_ROWS}),
            made.input(RC_DTYPE_I32, {RC_DIM_SEQUENCES, 2}),
            value_of(RC_STORAGE_CACHE, 0, RC_DTYPE_F32, {2, 2, 4}),
            value_of(RC_STORAGE_OUTPUT, 0, RC_DTYPE_F32, {RC_DIM_ROWS, 4})};
  ops = {op_of(RC_OP_SHORT_CONV, {0, 1, 2, 3, 4, 5}, {6})};
  made.expect_checked({
      [&] { values[0].shape[1] = 5; },
      [&] { values[0].shape[0] = RC_DIM_OUTPUTS; },
      [&] { ops[0].inputs[1] = 2; },  // a weight without a width
      [&] { ops[0].inputs[2] = 1; },
      [&] { ops[0].inputs[3] = 0; },
      [&] { ops[0].inputs[4] = 3; },
      [&] { ops[0].inputs[5] = -1; },
      [&] { values[3].dtype = RC_DTYPE_F32; },
      [&] { values[4].shape[1] = 1; },
      [&] { values[4].shape[0] = RC_DIM_ROWS; },
      [&] { values[5].shape[1] = 3; },  // as many rows as the width
      [&] { values[5].shape[2] = 3; },
      [&] { values[5].shape[0] = 3; },  // beyond the buffer
      [&] { values[5].dtype = RC_DTYPE_F16; },
      [&] { values[5].rank = 2; },
      [&] { values[6].shape[1] = 3; },
      [&] { ops[0].params.short_conv.function = -1; },
      [&] { ops[0].params.short_conv.function = 99; },
  });
}

void expect_scans_are_checked(const rc_plugin& plugin,
                              rc_plugin_device* device) {
  StateProgram made(plugin, device, {{2}, {2}, {2}});
  std::vector<rc_plugin_value>& values = made.values;
  std::vector<Op>& ops = made.ops;
  values = {made.input(RC_DTYPE_F32, {RC_DIM_ROWS, 2, 2}),
            made.input(RC_DTYPE_F32, {RC_DIM_ROWS, 2}),
            made.input(RC_DTYPE_F32, {RC_DIM_ROWS, 1, 2}),
            made.input(RC_DTYPE_F32, {RC_DIM_ROWS, 1, 2}),
            value_of(RC_STORAGE_WEIGHT, 0, RC_DTYPE_F32, {2}),
            value_of(RC_STORAGE_WEIGHT, 1, RC_DTYPE_F32, {2}),
            value_of(RC_STORAGE_WEIGHT, 2, RC_DTYPE_F32, {2}),
            made.input(RC_DTYPE_I32, {RC_DIM_ROWS}),
            made.input(RC_DTYPE_I32, {RC_DIM_SEQUENCES, 2}),
            value_of(RC_STORAGE_CACHE, 0, RC_DTYPE_F32, {2, 2, 2, 2}),
            value_of(RC_STORAGE_OUTPUT, 0, RC_DTYPE_F32, {RC_DIM_ROWS, 2, 2})};
  ops = {op_of(RC_OP_SELECTIVE_SCAN, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {10})};
  made.expect_checked({
      [&] { values[0].shape[0] = RC_DIM_OUTPUTS; },
      [&] { values[0].shape[1] = 3; },
      [&] { values[0].shape[2] = 3; },
      [&] { values[1].shape[1] = 1; },
      [&] {
        values[2].shape[1] = values[3].shape[1] = 3;
      },                                // groups of 2 heads
      [&] { values[2].shape[2] = 3; },  // not that of c
      [&] { values[2].shape[2] = values[3].shape[2] = 3; },
      [&] { values[3].dtype = RC_DTYPE_I32; },
      [&] { ops[0].inputs[4] = 1; },  // no weight
      [&] { ops[0].inputs[5] = -1; },
      [&] { values[7].shape[0] = RC_DIM_SEQUENCES; },
      [&] { values[8].shape[1] = 3; },
      [&] { values[9].shape[0] = 3; },  // beyond the buffer
      [&] { values[9].shape[1] = 1; },
      [&] { values[9].rank = 3; },
      [&] { values[9].storage = RC_STORAGE_SCRATCH; },
      [&] { values[10].shape[2] = 1; },
  });
}

}  // namespace

rc_plugin_value value_of(int32_t storage, int32_t index, int64_t first,
                         int64_t second) {
  rc_plugin_value value = {};
  value.dtype = RC_DTYPE_F32;
  value.rank = 2;
  value.shape[0] = first;
  value.shape[1] = second;
  value.storage = storage;
  value.index = index;
  return value;
}

Op op_of(int32_t code, std::vector<int32_t> inputs,
         std::vector<int32_t> outputs) {
  Op op;
  op.code = code;
  std::copy(inputs.begin(), inputs.end(), op.inputs);
  std::copy(outputs.begin(), outputs.end(), op.outputs);
  return op;
}

SmallProgram::SmallProgram(const rc_plugin& plugin, rc_plugin_device* device)
    : plugin_(plugin), device_(device) {
  rc_plugin_weight_info info = {};
  info.name = "w";
  info.dtype = RC_DTYPE_F32;
  info.rank = 2;
  info.shape[0] = 3;
  info.shape[1] = 4;
  info.uses = RC_USE_LINEAR;
  const std::vector<float> data(12, 1);
  EXPECT_EQ(
      plugin.create_weight(device, &info, data.data(), &weight_, message_),
      RC_OK)
      << message_;
  EXPECT_EQ(plugin.create_buffer(device, 64, &buffer_, message_), RC_OK)
      << message_;
  values = {value_of(RC_STORAGE_INPUT, 0, RC_DIM_ROWS, 4),
            value_of(RC_STORAGE_WEIGHT, 0, 3, 4),
            value_of(RC_STORAGE_SCRATCH, 0, RC_DIM_ROWS, 3),
            value_of(RC_STORAGE_OUTPUT, 0, RC_DIM_ROWS, 3)};
  ops = {op_of(RC_OP_LINEAR, {0, 1}, {2}), op_of(RC_OP_SCALE, {2}, {3})};
  ops[1].params.scale.factor = 2;
  program.struct_size = sizeof program;
  program.weights = &weight_;
  program.weight_count = 1;
  program.caches = &buffer_;
  program.cache_count = 1;
  program.input_count = 1;
  program.output_count = 1;
  program.scratch_bytes = 128;
  program.max_rows = 8;
}

SmallProgram::~SmallProgram() {
  plugin_.destroy_buffer(device_, buffer_);
  plugin_.destroy_weight(device_, weight_);
}

rc_status SmallProgram::compile(rc_plugin_compiled** compiled) {
  const PluginArrays arrays(values, ops);
  arrays.put_into(program);
  std::memset(message_, 0, sizeof message_);
  return plugin_.compile(device_, &program, compiled, message_);
}

void expect_programs_are_checked(const rc_plugin& plugin,
                                 rc_plugin_device* device) {
  SmallProgram spoiled(plugin, device);
  // The status of compiling the program as it is now.
  const auto compiled = [&] {
    rc_plugin_compiled* made = nullptr;
    const rc_status status = spoiled.compile(&made);
    if (status == RC_OK) {
      plugin.destroy_compiled(device, made);
    } else {
      EXPECT_EQ(made, nullptr);
      EXPECT_STRNE(spoiled.message(), "");
    }
    return status;
  };
  std::vector<rc_plugin_value>& values = spoiled.values;
  std::vector<Op>& ops = spoiled.ops;
  rc_plugin_program& program = spoiled.program;
  const std::vector<std::function<void()>> spoilers = {
      [&] { values[0].index = 1; },
      [&] { values[0].index = -1; },
      [&] { values[1].index = 7; },
      [&] { values[1].shape[0] = 2; },  // not the weight's shape
      [&] { values[1].dtype = RC_DTYPE_F16; },
      [&] { values[1].rank = 1; },
      [&] { values[2].offset = 64; },  // 8 rows do not fit
      [&] { values[2].offset = 4; },   // no multiple of 64
      [&] { values[2].offset = UINT64_MAX - 63; },
      [&] { values[2].storage = 9; },
      [&] { values[2].storage = -1; },
      [&] { values[2].shape[1] = 5; },
      [&] { values[2].shape[1] = -1; },
      [&] { values[2].shape[1] = INT64_MAX; },
      [&] { values[2].shape[0] = -4; },
      [&] { values[2].rank = 0; },
      [&] { values[2].rank = 5; },
      [&] { values[2].dtype = 12345; },
      [&] { values[2].dtype = RC_DTYPE_I32; },
      [&] { values[3].index = 1; },
      [&] { values[3].storage = RC_STORAGE_INPUT; },
      [&] { values[3].storage = RC_STORAGE_WEIGHT; },
      [&] { values[3].storage = RC_STORAGE_CACHE; },
      [&] { ops[0].inputs[0] = 4; },
      [&] { ops[0].inputs[0] = -2; },
      [&] { ops[0].inputs[0] = -1; },
      [&] { ops[0].inputs[1] = 0; },
      [&] { ops[0].inputs[2] = 1; },
      [&] { ops[0].inputs[7] = 0; },
      [&] { ops[0].outputs[0] = -1; },
      [&] { ops[0].outputs[0] = 0; },
      [&] { ops[0].outputs[1] = 2; },
      [&] { ops[0].code = 0; },
      [&] { ops[0].code = 99; },
      [&] { ops[1].params.scale.factor = std::stof("nan"); },
      [&] { program.max_rows = -1; },
      [&] { program.max_rows = 0; },
      [&] { program.max_rows = INT64_MAX; },
      [&] { program.weight_count = 0; },
      [&] { program.input_count = 0; },
      [&] { program.output_count = 0; },
      [&] { program.scratch_bytes = 0; },
  };
  ASSERT_EQ(compiled(), RC_OK) << spoiled.message();
  const auto sound_values = values;
  const auto sound_ops = ops;
  const auto sound_program = program;
  for (size_t i = 0; i < spoilers.size(); ++i) {
    values = sound_values;
    ops = sound_ops;
    program = sound_program;
    spoilers[i]();
    EXPECT_NE(compiled(), RC_OK) << "spoiler " << i;
  }
  values = sound_values;
  ops = sound_ops;
  program = sound_program;
  EXPECT_EQ(compiled(), RC_OK) << spoiled.message();
  expect_convolutions_are_checked(plugin, device);
  expect_scans_are_checked(plugin, device);
}

void expect_programs_are_checked(const std::string& backend) {
  runtime::Selection selection;
  selection.spec = backend;
  const auto device = runtime::select(selection).device;
  const auto turn = device->turn();
  expect_programs_are_checked(device->plugin(), device->handle());
}

}  // namespace rc::test
