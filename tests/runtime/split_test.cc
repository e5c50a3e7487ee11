// Programs on several devices: where they are cut, what crosses, what lives
// where, and that the numbers stay the same.
#include "runtime/split.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/error.h"
#include "expect_error.h"
#include "runtime/assignment.h"
#include "runtime/registry.h"
#include "runtime/wrapped_plugin.h"

namespace rc::runtime {
namespace {

using test::error_of;
using Endpoint = Split::Endpoint;
constexpr ProgramLimits kSplitLimits = {4, 4, 2};

Split split_by(const ProgramDescription& description,
               const std::vector<size_t>& devices) {
  return split(description, devices, 3, kSplitLimits);
}

const rc_plugin_value& value(const Split::Segment& segment, Value number) {
  return segment.description.values.at(static_cast<size_t>(number));
}

// a = 2x; b = 3a; y = a + b.
ProgramDescription diamond(bool output_a = false) {
  ProgramBuilder builder;
  const Value x = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 6});
  const Value a = builder.scale(x, 2);
  const Value b = builder.scale(a, 3);
  if (output_a) builder.output(a);
  builder.output(builder.add(a, b));
  return std::move(builder).take();
}

// Stages that have nothing in common but an input are run one by one.
TEST(Split, StageIsASeparateSegment) {
  ProgramBuilder builder;
  const Value x = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 6});
  builder.output(builder.scale(x, 2));
  builder.begin_stage();
  const Value y = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 6});
  builder.output(builder.add(builder.scale(x, 5), y));
  const ProgramDescription whole = std::move(builder).take();
  EXPECT_EQ(whole.stages, std::vector<size_t>{1});
  const Split result = split_by(whole, {1, 1, 1});
  ASSERT_EQ(result.segments.size(), 2u);
  EXPECT_EQ(result.segments[0].stage, 0u);
  EXPECT_EQ(result.segments[1].stage, 1u);
  EXPECT_EQ(result.segments[0].ops, std::vector<size_t>{0});
  EXPECT_EQ(result.segments[1].ops, (std::vector<size_t>{1, 2}));
  EXPECT_TRUE(result.transfers.empty());

  const auto program = Program::compile(select({"reference", 0, {}}).device,
                                        whole, kSplitLimits, {}, {});
  const std::vector<float> given(6, 1.5f);
  const std::vector<float> more(6, 0.25f);
  std::vector<float> first(6), second(6);
  RunArguments arguments;
  arguments.rows = 1;
  arguments.inputs = {given.data(), nullptr};
  arguments.outputs_data = {first.data(), nullptr};
  program->run(arguments, -1);
  EXPECT_EQ(first, std::vector<float>(6, 3.0f));
  arguments.stage = 1;
  EXPECT_EQ(error_of([&] { program->run(arguments, -1); }).message(),
            "input 1 of a run is NULL");
  arguments.inputs = {given.data(), more.data()};
  arguments.outputs_data = {nullptr, second.data()};
  program->run(arguments, -1);
  EXPECT_EQ(second, std::vector<float>(6, 7.75f));
  arguments.stage = 2;
  EXPECT_EQ(error_of([&] { program->run(arguments, -1); }).status(),
            RC_E_INVALID_ARGUMENT);
}

TEST(Split, OnOneDeviceEqualsTheProgram) {
  const ProgramDescription whole = diamond();
  const Split result = split_by(whole, {1, 1, 1});
  ASSERT_EQ(result.segments.size(), 1u);
  const Split::Segment& only = result.segments[0];
  EXPECT_EQ(only.device, 1u);
  EXPECT_EQ(only.description.values.size(), whole.values.size());
  EXPECT_EQ(only.description.ops.size(), whole.ops.size());
  EXPECT_EQ(only.inputs, (std::vector<Endpoint>{{Endpoint::kInput, 0}}));
  EXPECT_EQ(only.outputs, (std::vector<Endpoint>{{Endpoint::kOutput, 0}}));
  EXPECT_EQ(result.transfer_bytes, 0u);
  EXPECT_EQ(result.devices[1].scratch_bytes, only.scratch_bytes);
  EXPECT_EQ(result.devices[0].scratch_bytes, 0u);
}

TEST(Split, PartsKeepTheirNames) {
  ProgramBuilder builder("first");
  const Value x = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 6});
  const Value a = builder.scale(x, 2);
  builder.begin_part("second");
  const Value b = builder.scale(a, 3);
  builder.begin_part("third");
  builder.output(builder.scale(b, 4));
  const Split result = split_by(std::move(builder).take(), {0, 1, 0});
  ASSERT_EQ(result.segments.size(), 3u);
  const char* const names[] = {"first", "second", "third"};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(result.segments[i].description.part_name(0), names[i]);
  }
}

TEST(Split, CrossingValueIsAnOutputAndAnInput) {
  const Split result = split_by(diamond(), {0, 1, 0});
  ASSERT_EQ(result.segments.size(), 3u);
  // `a` is read in both others, `b` in the last.
  EXPECT_EQ(result.segments[0].inputs,
            (std::vector<Endpoint>{{Endpoint::kInput, 0}}));
  EXPECT_EQ(result.segments[0].outputs,
            (std::vector<Endpoint>{{Endpoint::kTransfer, 0}}));
  EXPECT_EQ(result.segments[1].inputs,
            (std::vector<Endpoint>{{Endpoint::kTransfer, 0}}));
  EXPECT_EQ(result.segments[1].outputs,
            (std::vector<Endpoint>{{Endpoint::kTransfer, 1}}));
  EXPECT_EQ(result.segments[2].inputs,
            (std::vector<Endpoint>{{Endpoint::kTransfer, 0},
                                   {Endpoint::kTransfer, 1}}));
  EXPECT_EQ(result.segments[2].outputs,
            (std::vector<Endpoint>{{Endpoint::kOutput, 0}}));
  // Both live at once: 4 rows of 6 numbers, in units of 64.
  ASSERT_EQ(result.transfers.size(), 2u);
  EXPECT_EQ(result.transfer_bytes, 2u * 128);
  EXPECT_NE(result.transfers[0].offset, result.transfers[1].offset);
  for (const Split::Segment& segment : result.segments) {
    EXPECT_EQ(segment.scratch_bytes, 0u);
  }
}

TEST(Split, TransfersShareMemoryByLifetime) {
  ProgramBuilder builder;
  Value x = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 16});
  for (int i = 0; i < 5; ++i) x = builder.scale(x, 2);
  builder.output(x);
  const Split result = split_by(std::move(builder).take(), {0, 1, 0, 1, 0});
  EXPECT_EQ(result.transfers.size(), 4u);
  // One is read while the next is written, so two at a time.
  EXPECT_EQ(result.transfer_bytes, 2u * 4 * 16 * sizeof(float));
}

TEST(Split, OutputIsReadFromItsDevice) {
  const Split result = split_by(diamond(true), {0, 0, 1});
  ASSERT_EQ(result.segments.size(), 2u);
  EXPECT_EQ(result.segments[0].outputs,
            (std::vector<Endpoint>{{Endpoint::kOutput, 0},
                                   {Endpoint::kTransfer, 0}}));
  EXPECT_EQ(result.segments[1].inputs,
            (std::vector<Endpoint>{{Endpoint::kOutput, 0},
                                   {Endpoint::kTransfer, 0}}));
}

TEST(Split, ReshapesCrossAsOneValue) {
  ProgramBuilder builder;
  const Value x = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 6});
  const Value a = builder.scale(x, 2);
  const Value view = builder.reshape(a, {RC_DIM_ROWS, 2, 3});
  const Value b = builder.scale(view, 3);
  builder.output(builder.add(builder.reshape(b, {RC_DIM_ROWS, 6}), a));
  const Split result = split_by(std::move(builder).take(), {0, 1, 1});
  ASSERT_EQ(result.segments.size(), 2u);
  EXPECT_EQ(result.transfers.size(), 1u);
  const Split::Segment& second = result.segments[1];
  ASSERT_EQ(second.inputs.size(), 1u);
  // Both shapes of `a`, and both of `b`, which stays in scratch.
  const Op& scale = second.description.ops[0];
  const Op& add = second.description.ops[1];
  EXPECT_EQ(value(second, scale.inputs[0]).rank, 3);
  EXPECT_EQ(value(second, add.inputs[1]).rank, 2);
  EXPECT_EQ(value(second, scale.inputs[0]).storage, RC_STORAGE_INPUT);
  EXPECT_EQ(value(second, add.inputs[1]).index,
            value(second, scale.inputs[0]).index);
  EXPECT_EQ(value(second, scale.outputs[0]).storage, RC_STORAGE_SCRATCH);
  EXPECT_EQ(value(second, add.inputs[0]).index, scale.outputs[0]);
}

TEST(Split, AViewMayComeBeforeItsBase) {
  ProgramBuilder builder;
  const Value x = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 6});
  const Value a = builder.scale(x, 2);
  const Value b = builder.scale(x, 3);
  const Value sum = builder.add(a, b);
  builder.output(builder.scale(builder.reshape(sum, {RC_DIM_ROWS, 3, 2}), 4));
  const Split result = split_by(std::move(builder).take(), {1, 0, 0, 0});
  const Split::Segment& second = result.segments.at(1);
  EXPECT_EQ(second.scratch_bytes, 128u);
  EXPECT_EQ(second.description.ops.size(), 3u);
}

TEST(Split, WeightUsedOnTwoDevicesIsOnBoth) {
  ProgramBuilder builder;
  const Value ids = builder.input(RC_DTYPE_I32, {RC_DIM_ROWS});
  const Value table =
      builder.weight("table", RC_DTYPE_F32, {8, 4}, RC_USE_ROWS);
  builder.weight("table", RC_DTYPE_F32, {8, 4}, RC_USE_LINEAR);
  const Value bias = builder.weight("bias", RC_DTYPE_F32, {8}, RC_USE_ELEMENTS);
  const Value x = builder.get_rows(table, ids);
  builder.output(builder.linear(x, table, bias));
  const Split result = split_by(std::move(builder).take(), {2, 0});
  const auto uses = [&](size_t device) {
    return result.devices[device].weight_uses;
  };
  EXPECT_EQ(uses(2), (std::vector<uint32_t>{RC_USE_ROWS, 0}));
  EXPECT_EQ(uses(0), (std::vector<uint32_t>{RC_USE_LINEAR, RC_USE_ELEMENTS}));
  EXPECT_EQ(uses(1), (std::vector<uint32_t>{0, 0}));
}

TEST(Split, RefusesAValueThatTwoDevicesWrite) {
  ProgramDescription description = diamond();
  description.ops[1].outputs[0] = description.ops[0].outputs[0];
  description.ops[1].inputs[0] = 0;
  EXPECT_EQ(error_of([&] {
              split_by(description, {0, 1, 1});
            }).status(),
            RC_E_INVALID_ARGUMENT);
}

// Keys and values of one row each in a cache, and attention over them.
ProgramDescription attention() {
  ProgramBuilder builder;
  const Value x = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 1, 4});
  const Value positions = builder.input(RC_DTYPE_I32, {RC_DIM_ROWS});
  const Value sequences = builder.input(RC_DTYPE_I32, {RC_DIM_ROWS});
  const Value table = builder.input(RC_DTYPE_I32, {RC_DIM_SEQUENCES, 1});
  const Value keys = builder.cache(RC_DTYPE_F32, {2, 1, 8, 4});
  const Value values = builder.cache(RC_DTYPE_F32, {2, 1, 8, 4});
  const Value k = builder.scale(x, 0.5f);
  builder.cache_store(k, positions, sequences, table, keys);
  builder.cache_store(x, positions, sequences, table, values);
  const Value y = builder.attention(x, keys, values, positions, sequences,
                                    table, 1.0f, 0.0f, 0);
  builder.output(builder.add(y, x));
  return std::move(builder).take();
}

class Fallbacks : public ::testing::Test {
 protected:
  Assignment assign(const ProgramDescription& description,
                    bool strict = false) {
    devices = {test::open_wrapped("lacking")};
    return runtime::assign(
        description, std::vector<size_t>(description.ops.size()), devices,
        [] {
          return select({"cpu:0", 0, {1, false}}).device;
        },
        strict);
  }
  test::WrappedState& state = test::wrap_backend("lacking", "reference");
  std::vector<std::shared_ptr<Device>> devices;
};

TEST_F(Fallbacks, SupportedProgramNeedsNoFallback) {
  const Assignment all = assign(attention());
  EXPECT_EQ(all.device_of_op, std::vector<size_t>(5));
  EXPECT_TRUE(all.fallbacks.empty());
  EXPECT_EQ(devices.size(), 1u);
}

TEST_F(Fallbacks, OpsOnOneCacheFallBackTogether) {
  for (const int32_t missing : {RC_OP_ATTENTION, RC_OP_CACHE_STORE}) {
    state.missing_ops = {missing};
    const Assignment some = assign(attention());
    ASSERT_EQ(devices.size(), 2u);
    EXPECT_EQ(devices[1]->id(), "cpu:0");
    EXPECT_EQ(some.device_of_op, (std::vector<size_t>{0, 1, 1, 1, 0}));
    ASSERT_EQ(some.fallbacks.size(), 2u);
    EXPECT_EQ(some.fallbacks[0], (Fallback{op_name(missing), "lacking:0",
                                           "cpu:0", "the test took it away"}));
    EXPECT_NE(some.fallbacks[1].reason.find(op_name(missing)),
              std::string::npos);
    const Split result = split(attention(), some.device_of_op, 2, kSplitLimits);
    EXPECT_EQ(result.devices[0].caches, (std::vector<bool>{false, false}));
    EXPECT_EQ(result.devices[1].caches, (std::vector<bool>{true, true}));
  }
}

TEST_F(Fallbacks, StrictNamesOpDeviceAndReason) {
  state.missing_ops = {RC_OP_ADD};
  const Error error = error_of([&] { assign(attention(), true); });
  EXPECT_EQ(error.status(), RC_E_UNSUPPORTED);
  for (const char* part : {"ADD", "lacking:0", "the test took it away"}) {
    EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
  }
}

// A program on the wrapped reference and on the reference itself.
class SplitProgram : public ::testing::Test {
 protected:
  std::vector<std::shared_ptr<Device>> devices() {
    return {test::open_wrapped("one"), test::open_wrapped("two")};
  }
  std::unique_ptr<Program> compile(const ProgramDescription& description,
                                   const std::vector<size_t>& device_of_op) {
    Split cut = split(description, device_of_op, 2, kSplitLimits);
    std::vector<DeviceContents> contents;
    for (const auto& device : devices()) {
      DeviceContents here = {device, {}, {}};
      for (const rc_plugin_value& cache : description.caches) {
        here.caches.push_back(
            device->create_buffer(value_bytes(cache, {}).value()));
      }
      contents.push_back(std::move(here));
    }
    return Program::compile(std::move(cut), contents);
  }
  test::WrappedState& one = test::wrap_backend("one", "reference");
  test::WrappedState& two = test::wrap_backend("two", "reference");
};

TEST_F(SplitProgram, ComputesTheSame) {
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<int32_t> positions = {0, 1}, sequences = {0, 0},
                             table = {1};
  std::vector<float> expected;
  for (const std::vector<size_t>& where : {std::vector<size_t>{0, 0, 0, 0, 0},
                                           {1, 0, 0, 0, 1},
                                           {0, 1, 1, 1, 0},
                                           {1, 0, 0, 0, 0}}) {
    const auto program = compile(attention(), where);
    for (const int64_t timeout : {-1, 600'000}) {
      std::vector<float> y(8, -1);
      program->run(
          {2,
           0,
           1,
           {x.data(), positions.data(), sequences.data(), table.data()},
           {y.data()}},
          timeout);
      if (expected.empty()) expected = y;
      EXPECT_EQ(y, expected);
    }
  }
  EXPECT_NE(expected, std::vector<float>(8, -1));
}

TEST_F(SplitProgram, StopsBetweenItsSegments) {
  const auto program = compile(diamond(), {0, 1, 0});
  const std::vector<float> x(6);
  std::vector<float> y(6);
  int asked = 0;
  RunArguments arguments = {1, 0, 0, {x.data()}, {y.data()}};
  arguments.user = &asked;
  // The reference asks nothing of a program so short but at its beginning.
  one.on_wait = [&](int64_t, char*, const std::function<rc_status()>& inner) {
    const rc_status status = inner();
    asked = 1;
    return status;
  };
  arguments.should_stop = [](void* user) {
    return static_cast<int32_t>(*static_cast<int*>(user));
  };
  const int before = two.runs;
  for (const int64_t timeout : {-1, 600'000}) {
    asked = 0;
    const Error error = error_of([&] { program->run(arguments, timeout); });
    EXPECT_EQ(error.status(), RC_E_CANCELLED);
    EXPECT_NE(error.message().find("two:0"), std::string::npos);
  }
  EXPECT_EQ(two.runs, before);
}

TEST_F(SplitProgram, SegmentsShareTheTimeout) {
  const auto program = compile(diamond(), {0, 1, 0});
  const std::vector<float> x(6);
  std::vector<float> y(6);
  std::vector<int64_t> limits;
  const auto wait = [&](int64_t timeout, char*,
                        const std::function<rc_status()>& inner) {
    limits.push_back(timeout);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return inner();
  };
  one.on_wait = two.on_wait = wait;
  program->run({1, 0, 0, {x.data()}, {y.data()}}, 600'000);
  ASSERT_EQ(limits.size(), 3u);
  EXPECT_EQ(limits[0], 600'000);
  EXPECT_LE(limits[1], 599'980);
  EXPECT_LE(limits[2], 599'960);
  const Error error = error_of([&] {
    program->run({1, 0, 0, {x.data()}, {y.data()}}, 15);
  });
  EXPECT_EQ(error.status(), RC_E_TIMEOUT);
}

TEST_F(SplitProgram, LostDeviceIsReported) {
  const auto program = compile(diamond(), {0, 1, 0});
  const std::vector<float> x(6);
  std::vector<float> y(6);
  two.on_run = [](const rc_plugin_run&, char*,
                  const std::function<rc_status()>&) {
    return static_cast<rc_status>(RC_E_DEVICE_LOST);
  };
  const Error error = error_of([&] {
    program->run({1, 0, 0, {x.data()}, {y.data()}}, 600'000);
  });
  EXPECT_EQ(error.status(), RC_E_DEVICE_LOST);
  EXPECT_NE(error.message().find("two:0"), std::string::npos);
}

}  // namespace
}  // namespace rc::runtime
