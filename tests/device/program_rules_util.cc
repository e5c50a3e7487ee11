#include "device/program_rules_util.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tensor/plugin_arrays.h"

namespace rc::test {
namespace {

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

Op op_of(int32_t code, int32_t x, int32_t w, int32_t y) {
  Op op;
  op.code = code;
  op.inputs[0] = x;
  op.inputs[1] = w;
  op.outputs[0] = y;
  return op;
}

// A program of one LINEAR, [rows, 4] times [3, 4], through scratch to a SCALE
// and an output, that tests spoil in one place.
class SpoiledProgram {
 public:
  SpoiledProgram(const rc_plugin& plugin, rc_plugin_device* device)
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
    ops = {op_of(RC_OP_LINEAR, 0, 1, 2), op_of(RC_OP_SCALE, 2, -1, 3)};
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
  ~SpoiledProgram() {
    plugin_.destroy_buffer(device_, buffer_);
    plugin_.destroy_weight(device_, weight_);
  }
  SpoiledProgram(const SpoiledProgram&) = delete;
  SpoiledProgram& operator=(const SpoiledProgram&) = delete;

  // The status of compiling the program as it is now.
  rc_status compiled() {
    const PluginArrays arrays(values, ops);
    arrays.put_into(program);
    std::memset(message_, 0, sizeof message_);
    rc_plugin_compiled* compiled = nullptr;
    const rc_status status =
        plugin_.compile(device_, &program, &compiled, message_);
    if (status == RC_OK) {
      plugin_.destroy_compiled(device_, compiled);
    } else {
      EXPECT_EQ(compiled, nullptr);
      EXPECT_NE(message_[0], '\0');
    }
    return status;
  }
  const char* message() const { return message_; }

  std::vector<rc_plugin_value> values;
  std::vector<Op> ops;
  rc_plugin_program program = {};

 private:
  const rc_plugin& plugin_;
  rc_plugin_device* device_;
  rc_plugin_weight* weight_ = nullptr;
  rc_plugin_buffer* buffer_ = nullptr;
  char message_[RC_PLUGIN_MESSAGE_BYTES] = "";
};

}  // namespace

void expect_programs_are_checked(const rc_plugin& plugin,
                                 rc_plugin_device* device) {
  SpoiledProgram spoiled(plugin, device);
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
  ASSERT_EQ(spoiled.compiled(), RC_OK) << spoiled.message();
  const auto sound_values = values;
  const auto sound_ops = ops;
  const auto sound_program = program;
  for (size_t i = 0; i < spoilers.size(); ++i) {
    values = sound_values;
    ops = sound_ops;
    program = sound_program;
    spoilers[i]();
    EXPECT_NE(spoiled.compiled(), RC_OK) << "spoiler " << i;
  }
  values = sound_values;
  ops = sound_ops;
  program = sound_program;
  EXPECT_EQ(spoiled.compiled(), RC_OK) << spoiled.message();
}

}  // namespace rc::test
