// Programs that break the rules of plugin.h, given to the backend directly:
// each is a status and a message, and the device goes on.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "device/program_rules_util.h"
#include "reference/plugin.h"
#include "tensor/plugin_arrays.h"

namespace rc::reference {
namespace {

// A program of one LINEAR op, [rows, 4] times [3, 4], through scratch to an
// output, that tests spoil in one place.
class ReferenceProgramTest : public testing::Test {
 protected:
  void SetUp() override {
    rc_plugin_open_options options = {};
    options.struct_size = sizeof options;
    options.log = [](rc_log_level, const char*) {};
    ASSERT_EQ(plugin_.open(0, &options, &device_, message_), RC_OK);
    rc_plugin_weight_info info = {};
    info.name = "w";
    info.dtype = RC_DTYPE_F32;
    info.rank = 2;
    info.shape[0] = 3;
    info.shape[1] = 4;
    info.uses = RC_USE_LINEAR;
    const std::vector<float> data(12, 1);
    ASSERT_EQ(
        plugin_.create_weight(device_, &info, data.data(), &weight_, message_),
        RC_OK);
    ASSERT_EQ(plugin_.create_buffer(device_, 64, &buffer_, message_), RC_OK);

    values_ = {value(RC_STORAGE_INPUT, 0, RC_DIM_ROWS, 4),
               value(RC_STORAGE_WEIGHT, 0, 3, 4),
               value(RC_STORAGE_SCRATCH, 0, RC_DIM_ROWS, 3),
               value(RC_STORAGE_OUTPUT, 0, RC_DIM_ROWS, 3)};
    ops_ = {op(RC_OP_LINEAR, {0, 1}, {2}), op(RC_OP_SCALE, {2}, {3})};
    ops_[1].params.scale.factor = 2;
    program_.struct_size = sizeof program_;
    program_.weights = &weight_;
    program_.weight_count = 1;
    program_.caches = &buffer_;
    program_.cache_count = 1;
    program_.input_count = 1;
    program_.output_count = 1;
    program_.scratch_bytes = 128;
    program_.max_rows = 8;
  }
  void TearDown() override {
    plugin_.destroy_buffer(device_, buffer_);
    plugin_.destroy_weight(device_, weight_);
    plugin_.close(device_);
  }

  static rc_plugin_value value(int storage, int index, int64_t first,
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
  static Op op(int32_t code, const std::vector<int32_t>& inputs,
               const std::vector<int32_t>& outputs) {
    Op op;
    op.code = code;
    std::copy(inputs.begin(), inputs.end(), op.inputs);
    std::copy(outputs.begin(), outputs.end(), op.outputs);
    return op;
  }

  rc_status compile(rc_plugin_compiled** compiled) {
    const PluginArrays arrays(values_, ops_);
    arrays.put_into(program_);
    std::memset(message_, 0, sizeof message_);
    return plugin_.compile(device_, &program_, compiled, message_);
  }
  const rc_plugin& plugin_ = *plugin();
  rc_plugin_device* device_ = nullptr;
  rc_plugin_weight* weight_ = nullptr;
  rc_plugin_buffer* buffer_ = nullptr;
  std::vector<rc_plugin_value> values_;
  std::vector<Op> ops_;
  rc_plugin_program program_ = {};
  char message_[RC_PLUGIN_MESSAGE_BYTES] = "";
};

TEST_F(ReferenceProgramTest, NonsenseIsRefused) {
  test::expect_programs_are_checked(plugin_, device_);
}

TEST_F(ReferenceProgramTest, RunsCheckTheirNumbers) {
  rc_plugin_compiled* compiled = nullptr;
  ASSERT_EQ(compile(&compiled), RC_OK) << message_;
  const std::vector<float> x(32, 1);
  std::vector<float> y(24);
  const void* inputs[] = {x.data()};
  void* outputs[] = {y.data()};
  rc_plugin_run run = {};
  run.struct_size = sizeof run;
  run.inputs = inputs;
  run.outputs_data = outputs;
  const auto status = [&] {
    const rc_status started = plugin_.run(device_, compiled, &run, message_);
    return started != RC_OK ? started : plugin_.wait(device_, -1, message_);
  };
  run.rows = 8;
  EXPECT_EQ(status(), RC_OK);
  EXPECT_EQ(y[23], 8);
  for (int64_t rows : {int64_t{9}, int64_t{-1}, INT64_MAX}) {
    run.rows = rows;
    EXPECT_EQ(status(), RC_E_INVALID_ARGUMENT);
  }
  run.rows = 1;
  run.outputs = 1;
  EXPECT_EQ(status(), RC_E_INVALID_ARGUMENT);
  run.outputs = 0;
  run.should_stop = [](void*) -> int32_t { return 1; };
  EXPECT_EQ(status(), RC_E_CANCELLED);
  run.should_stop = nullptr;
  inputs[0] = nullptr;
  EXPECT_EQ(status(), RC_E_INVALID_ARGUMENT);
  // Nothing is under way.
  EXPECT_EQ(plugin_.wait(device_, 0, message_), RC_E_INVALID_ARGUMENT);
  plugin_.destroy_compiled(device_, compiled);
}

// Asked before every row: a caller is heard within one row of one op.
TEST_F(ReferenceProgramTest, IsAskedToStopBetweenRows) {
  rc_plugin_compiled* compiled = nullptr;
  ASSERT_EQ(compile(&compiled), RC_OK) << message_;
  const std::vector<float> x(32, 1);
  std::vector<float> y(24);
  const void* inputs[] = {x.data()};
  void* outputs[] = {y.data()};
  int asked = 0;
  rc_plugin_run run = {};
  run.struct_size = sizeof run;
  run.rows = 8;
  run.inputs = inputs;
  run.outputs_data = outputs;
  run.user = &asked;
  run.should_stop = [](void* user) -> int32_t {
    ++*static_cast<int*>(user);
    return 0;
  };
  ASSERT_EQ(plugin_.run(device_, compiled, &run, message_), RC_OK);
  ASSERT_EQ(plugin_.wait(device_, -1, message_), RC_OK);
  // Two ops, three rows of the weight, eight rows of x.
  EXPECT_EQ(asked, 2 + 3 + 8);
  plugin_.destroy_compiled(device_, compiled);
}

TEST_F(ReferenceProgramTest, BuffersAndWeightsCheckTheirSizes) {
  char bytes[64] = {};
  EXPECT_EQ(plugin_.upload(device_, buffer_, 0, bytes, 64, message_), RC_OK);
  EXPECT_EQ(plugin_.upload(device_, buffer_, 1, bytes, 64, message_),
            RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(plugin_.download(device_, buffer_, UINT64_MAX, bytes, 2, message_),
            RC_E_INVALID_ARGUMENT);
  rc_plugin_buffer* buffer = nullptr;
  EXPECT_EQ(plugin_.create_buffer(device_, UINT64_MAX, &buffer, message_),
            RC_E_OUT_OF_MEMORY);
  EXPECT_EQ(buffer, nullptr);

  rc_plugin_weight_info info = {};
  info.name = "odd";
  info.rank = 2;
  info.shape[0] = 2;
  uint64_t size = 0;
  const auto status = [&](rc_dtype dtype, int64_t columns, uint32_t uses) {
    info.dtype = dtype;
    info.shape[1] = columns;
    info.uses = uses;
    return plugin_.weight_bytes(device_, &info, &size, message_);
  };
  EXPECT_EQ(status(RC_DTYPE_Q4_K, 256, RC_USE_LINEAR), RC_OK);
  EXPECT_EQ(size, 2u * 144);
  EXPECT_EQ(status(RC_DTYPE_Q4_K, 255, RC_USE_LINEAR), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status(RC_DTYPE_F32, INT64_MAX, RC_USE_LINEAR),
            RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status(RC_DTYPE_IQ1_S, 256, RC_USE_LINEAR), RC_E_UNSUPPORTED);
  EXPECT_EQ(status(31, 256, RC_USE_LINEAR), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status(RC_DTYPE_F16, 256, RC_USE_ELEMENTS), RC_E_UNSUPPORTED);
}

TEST_F(ReferenceProgramTest, ThereIsOneDevice) {
  rc_plugin_device_info info = {};
  info.struct_size = sizeof info;
  EXPECT_EQ(plugin_.device_info(0, &info, message_), RC_OK);
  EXPECT_EQ(info.kind, RC_DEVICE_CPU);
  EXPECT_EQ(plugin_.device_info(1, &info, message_), RC_E_NOT_FOUND);
  EXPECT_EQ(plugin_.device_info(-1, &info, message_), RC_E_NOT_FOUND);
  // An older host's struct is filled as far as it goes.
  std::memset(&info, 0x55, sizeof info);
  info.struct_size = offsetof(rc_plugin_device_info, total_memory);
  EXPECT_EQ(plugin_.device_info(0, &info, message_), RC_OK);
  EXPECT_EQ(info.total_memory, 0x5555555555555555u);
}

// What the host gives at each run is not known when compiling.
TEST_F(ReferenceProgramTest, NumbersInInputsAreChecked) {
  values_ = {value(RC_STORAGE_WEIGHT, 0, 3, 4),
             value(RC_STORAGE_INPUT, 0, RC_DIM_ROWS, 0),
             value(RC_STORAGE_OUTPUT, 0, RC_DIM_ROWS, 4)};
  values_[1].rank = 1;
  values_[1].dtype = RC_DTYPE_I32;
  ops_ = {op(RC_OP_GET_ROWS, {0, 1}, {2})};
  rc_plugin_compiled* compiled = nullptr;
  ASSERT_EQ(compile(&compiled), RC_OK) << message_;
  float y[4];
  int32_t id = 0;
  const void* inputs[] = {&id};
  void* outputs[] = {y};
  rc_plugin_run run = {};
  run.struct_size = sizeof run;
  run.rows = 1;
  run.inputs = inputs;
  run.outputs_data = outputs;
  for (int32_t number : {0, 2, 3, -1, INT32_MAX, INT32_MIN}) {
    id = number;
    ASSERT_EQ(plugin_.run(device_, compiled, &run, message_), RC_OK);
    EXPECT_EQ(plugin_.wait(device_, -1, message_),
              number == 0 || number == 2 ? RC_OK : RC_E_INVALID_ARGUMENT)
        << number;
  }
  plugin_.destroy_compiled(device_, compiled);
}

}  // namespace
}  // namespace rc::reference
