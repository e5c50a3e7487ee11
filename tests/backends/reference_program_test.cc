// Programs that break the rules of plugin.h, given to the backend directly:
// each is a status and a message, and the device goes on.
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <vector>

#include "device/program_rules_util.h"
#include "reference/plugin.h"

namespace rc::reference {
namespace {

class ReferenceProgramTest : public testing::Test {
 protected:
  void SetUp() override {
    rc_plugin_open_options options = {};
    options.struct_size = sizeof options;
    options.log = [](rc_log_level, const char*) {};
    ASSERT_EQ(plugin_.open(0, &options, &device_, message_), RC_OK);
    program_.emplace(plugin_, device_);
  }
  void TearDown() override {
    program_.reset();
    plugin_.close(device_);
  }

  const rc_plugin& plugin_ = *plugin();
  rc_plugin_device* device_ = nullptr;
  std::optional<test::SmallProgram> program_;
  char message_[RC_PLUGIN_MESSAGE_BYTES] = "";
};

TEST_F(ReferenceProgramTest, MalformedProgramsAreRefused) {
  test::expect_programs_are_checked(plugin_, device_);
}

TEST_F(ReferenceProgramTest, RunsCheckTheirCounts) {
  rc_plugin_compiled* compiled = nullptr;
  ASSERT_EQ(program_->compile(&compiled), RC_OK) << program_->message();
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

// should_stop is called before every row: a run stops within one row of one op.
TEST_F(ReferenceProgramTest, ChecksShouldStopBeforeEachRow) {
  rc_plugin_compiled* compiled = nullptr;
  ASSERT_EQ(program_->compile(&compiled), RC_OK) << program_->message();
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
  rc_plugin_buffer* const small = program_->buffer();
  EXPECT_EQ(plugin_.upload(device_, small, 0, bytes, 64, message_), RC_OK);
  EXPECT_EQ(plugin_.upload(device_, small, 1, bytes, 64, message_),
            RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(plugin_.download(device_, small, UINT64_MAX, bytes, 2, message_),
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
  EXPECT_EQ(status(RC_DTYPE_IQ1_S, 256, RC_USE_LINEAR), RC_OK);
  EXPECT_EQ(size, 2u * 50);
  EXPECT_EQ(status(31, 256, RC_USE_LINEAR), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status(RC_DTYPE_F16, 256, RC_USE_ELEMENTS), RC_E_UNSUPPORTED);
}

TEST_F(ReferenceProgramTest, HasOneDevice) {
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

// Inputs of each run are not known when compiling.
TEST_F(ReferenceProgramTest, NumbersInInputsAreChecked) {
  program_->values = {test::value_of(RC_STORAGE_WEIGHT, 0, 3, 4),
                      test::value_of(RC_STORAGE_INPUT, 0, RC_DIM_ROWS, 0),
                      test::value_of(RC_STORAGE_OUTPUT, 0, RC_DIM_ROWS, 4)};
  program_->values[1].rank = 1;
  program_->values[1].dtype = RC_DTYPE_I32;
  program_->ops = {test::op_of(RC_OP_GET_ROWS, {0, 1}, {2})};
  rc_plugin_compiled* compiled = nullptr;
  ASSERT_EQ(program_->compile(&compiled), RC_OK) << program_->message();
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
