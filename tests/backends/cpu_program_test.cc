// Opening, compiling and running: what is refused, what is cancelled, how
// steps wait for each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>

#include "backends/cpu_util.h"
#include "base/error.h"
#include "cpu/level.h"
#include "cpu/plugin.h"
#include "device/program_rules_util.h"
#include "tensor/op_schema.h"
#include "tensor/plugin_arrays.h"

namespace rc::cpu_test {
namespace {

rc_status open(int32_t index, int32_t threads, std::string& message) {
  rc_plugin_open_options options{};
  options.struct_size = sizeof(options);
  options.threads = threads;
  options.log = [](rc_log_level, const char*) {};
  rc_plugin_device* device = nullptr;
  char text[RC_PLUGIN_MESSAGE_BYTES] = "";
  const rc_status status = cpu::plugin()->open(index, &options, &device, text);
  message = text;
  EXPECT_EQ(status == RC_OK, device != nullptr);
  if (device) cpu::plugin()->close(device);
  return status;
}

TEST(CpuDevice, ReportsTheMachine) {
  char message[RC_PLUGIN_MESSAGE_BYTES];
  int32_t count = 0;
  ASSERT_EQ(cpu::plugin()->device_count(&count, message), RC_OK);
  EXPECT_EQ(count, 1);
  rc_plugin_device_info info{};
  info.struct_size = sizeof(info);
  ASSERT_EQ(cpu::plugin()->device_info(0, &info, message), RC_OK);
  EXPECT_EQ(info.kind, RC_DEVICE_CPU);
  EXPECT_NE(info.name[0], '\0');
  EXPECT_GE(info.cores, 1);
  EXPECT_LE(info.cores, static_cast<int>(std::thread::hardware_concurrency()));
  EXPECT_GT(info.total_memory, 0u);
  EXPECT_LE(info.free_memory, info.total_memory);
  EXPECT_NE(std::string(info.features).find(level_names().back()),
            std::string::npos);
  EXPECT_EQ(cpu::plugin()->device_info(1, &info, message), RC_E_NOT_FOUND);
  EXPECT_EQ(cpu::plugin()->device_info(-1, &info, message), RC_E_NOT_FOUND);
}

TEST(CpuDevice, OpenChecksThreadsAndIndex) {
  std::string message;
  EXPECT_EQ(open(0, 0, message), RC_OK);
  EXPECT_EQ(open(0, 1, message), RC_OK);
  EXPECT_EQ(open(0, 17, message), RC_OK);
  EXPECT_EQ(open(0, -1, message), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(open(0, 1000000, message), RC_E_INVALID_ARGUMENT);
  EXPECT_NE(message.find("1000000"), std::string::npos);
  EXPECT_EQ(open(3, 1, message), RC_E_NOT_FOUND);
}

TEST(CpuDevice, TheLevelCanBeForced) {
  std::string message;
  for (const std::string& level : level_names()) {
    setenv("RUNCIBLE_ISA", level.c_str(), 1);
    EXPECT_EQ(open(0, 1, message), RC_OK) << level << ": " << message;
  }
  for (const cpu::Level& level : cpu::levels()) {
    if (level.available()) continue;
    setenv("RUNCIBLE_ISA", level.name, 1);
    EXPECT_EQ(open(0, 1, message), RC_E_UNSUPPORTED);
    EXPECT_NE(message.find(level.name), std::string::npos) << message;
  }
  setenv("RUNCIBLE_ISA", "sse9", 1);
  EXPECT_EQ(open(0, 1, message), RC_E_INVALID_ARGUMENT);
  EXPECT_NE(message.find("sse9"), std::string::npos);
  unsetenv("RUNCIBLE_ISA");
}

TEST(CpuDevice, ReportsABuildWithoutALevelOfTheProcessor) {
  const std::vector<const cpu::Level*> usable = cpu::available_levels();
  EXPECT_STREQ(cpu::highest_level(usable).name, usable.back()->name);
  try {
    cpu::highest_level({});
    ADD_FAILURE() << "a level was found among none";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_UNSUPPORTED);
    const std::string message = error.what();
    EXPECT_NE(message.find("RUNCIBLE_CPU_LEVELS"), message.npos) << message;
    for (const cpu::Level& level : cpu::levels()) {
      EXPECT_NE(message.find(level.name), message.npos) << message;
    }
  }
}

// A program of one op over values with the given shapes.
rc_status compile(const Device& device, Op op,
                  const std::vector<rc_plugin_value>& values,
                  std::string* message = nullptr,
                  uint64_t scratch_bytes = 1 << 20, int64_t max_rows = 8) {
  rc_plugin_program program{};
  program.struct_size = sizeof(program);
  const PluginArrays arrays(values, {&op, 1});
  arrays.put_into(program);
  program.input_count = 4;
  program.output_count = 1;
  program.scratch_bytes = scratch_bytes;
  program.max_rows = max_rows;
  program.max_outputs = 8;
  program.max_sequences = 2;
  rc_plugin_compiled* compiled = nullptr;
  char text[RC_PLUGIN_MESSAGE_BYTES] = "";
  const rc_status status =
      cpu::plugin()->compile(device.get(), &program, &compiled, text);
  EXPECT_EQ(status == RC_OK, compiled != nullptr);
  if (status != RC_OK) {
    EXPECT_NE(text[0], '\0');
  }
  if (compiled) cpu::plugin()->destroy_compiled(device.get(), compiled);
  if (message) *message = text;
  return status;
}

Op add_op(int32_t a, int32_t b, int32_t y) {
  Op op;
  op.code = RC_OP_ADD;
  op.inputs[0] = a;
  op.inputs[1] = b;
  op.outputs[0] = y;
  return op;
}

TEST(CpuProgram, MalformedProgramsAreRefused) {
  const Device device;
  const rc_plugin_value in = {RC_DTYPE_F32,     2, {RC_DIM_ROWS, 8},
                              RC_STORAGE_INPUT, 0, 0};
  const rc_plugin_value out = {RC_DTYPE_F32,      2, {RC_DIM_ROWS, 8},
                               RC_STORAGE_OUTPUT, 0, 0};
  const auto op = add_op(0, 0, 1);
  EXPECT_EQ(compile(device, op, {in, out}), RC_OK);

  EXPECT_EQ(compile(device, add_op(0, 7, 1), {in, out}), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(compile(device, add_op(0, -1, 1), {in, out}),
            RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(compile(device, add_op(0, 0, -1), {in, out}),
            RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(compile(device, add_op(0, 0, 0), {in, out}), RC_E_INVALID_ARGUMENT)
      << "writes to an input";
  auto unknown = op;
  unknown.code = 99;
  EXPECT_EQ(compile(device, unknown, {in, out}), RC_E_UNSUPPORTED);

  const auto changed = [&](auto change) {
    auto value = out;
    change(value);
    return compile(device, op, {in, value});
  };
  using V = rc_plugin_value;
  EXPECT_EQ(changed([](V& v) { v.rank = 0; }), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(changed([](V& v) { v.rank = 5; }), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(changed([](V& v) { v.rank = 1; }), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(changed([](V& v) { v.shape[1] = 9; }), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(changed([](V& v) { v.shape[1] = -1; }), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(changed([](V& v) { v.shape[0] = -4; }), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(changed([](V& v) { v.shape[0] = RC_DIM_OUTPUTS; }),
            RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(changed([](V& v) { v.dtype = RC_DTYPE_F16; }),
            RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(changed([](V& v) { v.storage = 9; }), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(changed([](V& v) { v.storage = RC_STORAGE_CACHE; }),
            RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(changed([](V& v) { v.storage = RC_STORAGE_WEIGHT; }),
            RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(changed([](V& v) { v.index = 1; }), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(changed([](V& v) { v.index = -1; }), RC_E_INVALID_ARGUMENT);

  auto scratch = out;
  scratch.storage = RC_STORAGE_SCRATCH;
  EXPECT_EQ(compile(device, op, {in, scratch}), RC_OK);
  EXPECT_EQ(compile(device, op, {in, scratch}, nullptr, 255),
            RC_E_INVALID_ARGUMENT);
  scratch.offset = UINT64_MAX - 3;
  EXPECT_EQ(compile(device, op, {in, scratch}), RC_E_INVALID_ARGUMENT);
  scratch.offset = 2;
  EXPECT_EQ(compile(device, op, {in, scratch}), RC_E_INVALID_ARGUMENT);
  auto vast = in;
  vast.shape[1] = INT64_MAX;
  EXPECT_EQ(compile(device, op, {vast, vast}), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(compile(device, op, {in, out}, nullptr, 0, 0),
            RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(compile(device, op, {in, out}, nullptr, 0, INT64_MAX),
            RC_E_INVALID_ARGUMENT);
}

TEST(CpuProgram, ProgramsAreChecked) {
  const Device device;
  test::expect_programs_are_checked(*cpu::plugin(), device.get());
}

// Every op with every value of a small set in every place: a status always,
// a crash never.
TEST(CpuProgram, OpsWithMixedUpValuesAreRefused) {
  const Device device;
  std::vector<rc_plugin_value> values;
  for (int64_t rows :
       {int64_t{RC_DIM_ROWS}, int64_t{RC_DIM_SEQUENCES}, int64_t{4}}) {
    for (int32_t rank : {1, 2, 3, 4}) {
      for (rc_dtype dtype : {RC_DTYPE_F32, RC_DTYPE_I32}) {
        for (int32_t storage : {RC_STORAGE_INPUT, RC_STORAGE_SCRATCH}) {
          values.push_back({dtype, rank, {rows, 4, 4, 4}, storage, 0, 0});
        }
      }
    }
  }
  uint32_t random = 1;
  int compiled = 0;
  for (int i = 0; i < 60000; ++i) {
    const auto next = [&](uint32_t bound) {
      random = random * 1664525 + 1013904223;
      return static_cast<int32_t>((random >> 8) % bound);
    };
    Op op;
    op.code = 1 + next(13);
    const OpSchema& schema = *find_op(op.code);
    const auto count = static_cast<uint32_t>(values.size()) + 1;
    // One slot too many now and then.
    const int more = next(8) == 0 ? 1 : 0;
    for (int k = 0; k < schema.inputs() + more; ++k)
      op.inputs[k] = next(count) - 1;
    for (int k = 0; k < schema.outputs(); ++k) op.outputs[k] = next(count) - 1;
    op.params.norm.epsilon = 1;
    compiled += compile(device, op, values) == RC_OK;
  }
  EXPECT_GT(compiled, 0);
}

TEST(CpuProgram, RunChecksItsNumbersAndPointers) {
  const Device device;
  const auto x = random_floats(8 * 8, 1);
  Program program(device);
  program.max_rows = 8;
  const int32_t px = program.input(RC_DTYPE_F32, {RC_DIM_ROWS, 8}, x.data());
  const int32_t y = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, 8});
  program.op(RC_OP_ADD, {px, px}, {y});
  EXPECT_EQ(program.run(8), RC_OK);
  EXPECT_EQ(program.run(0), RC_OK);
  EXPECT_EQ(program.run(9), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(program.run(-1), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(program.run(8, 9), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(program.run(8, 0, 5), RC_E_INVALID_ARGUMENT);
  program.change_input(px, nullptr);
  EXPECT_EQ(program.run(8), RC_E_INVALID_ARGUMENT);
  program.change_input(px, x.data());
  EXPECT_EQ(program.run(8), RC_OK);
}

// Runs `rows` and `few` rows in turns; value y, of d elements a row, begins
// with the bits of `expected`, which the first run fills if it is empty.
void expect_same_bits(Program& program, int32_t y, int64_t rows, int64_t few,
                      int64_t d, std::vector<float>& expected) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    for (int64_t count : {rows, few}) {
      ASSERT_EQ(program.run(count), RC_OK) << program.message();
      const auto& result = program.result(y);
      if (expected.empty()) expected = result;
      ASSERT_EQ(std::memcmp(result.data(), expected.data(),
                            count * d * sizeof(float)),
                0)
          << count << " rows";
    }
  }
}

// A chain in which every step reads what other threads wrote, over scratch
// that is used again and again.
TEST(CpuProgram, StepsRunInOrderOnSeveralThreads) {
  constexpr int64_t d = 256, rows = 40;
  const auto x = random_floats(rows * d, 1);
  const auto weight = random_weight(RC_DTYPE_Q4_K, d, d, 2);
  const std::vector<float> ones(d, 1);
  std::vector<float> expected;
  for (int threads : {1, 2, 3, 8}) {
    const Device device(threads);
    Program program(device);
    program.max_rows = rows;
    const int32_t px = program.input(RC_DTYPE_F32, {RC_DIM_ROWS, d}, x.data());
    const int32_t w =
        program.weight(RC_DTYPE_Q4_K, {d, d}, weight.data(), RC_USE_LINEAR);
    const int32_t norm =
        program.weight(RC_DTYPE_F32, {d}, ones.data(), RC_USE_ELEMENTS);
    const int32_t a = program.scratch(RC_DTYPE_F32, {RC_DIM_ROWS, d});
    const int32_t b = program.scratch(RC_DTYPE_F32, {RC_DIM_ROWS, d});
    const int32_t y = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, d});
    program.op(RC_OP_ADD, {px, px}, {a});
    for (int i = 0; i < 30; ++i) {
      program.op(RC_OP_RMS_NORM, {a, norm}, {b}).params.norm.epsilon = 1e-5f;
      program.op(RC_OP_LINEAR, {b, w, -1, a}, {a});
      program.op(RC_OP_GLU, {a, b}, {a}).params.glu.function = RC_FUNCTION_SILU;
    }
    program.op(RC_OP_ADD, {a, b}, {y});
    SCOPED_TRACE(testing::Message() << threads << " threads");
    expect_same_bits(program, y, rows, 1, d, expected);
  }
}

// Every op that comes in chunks, of rows that are longer than one, with more
// threads than processors: some chunks are made twice.
TEST(CpuProgram, ChunksDoNotDependOnTheThread) {
  constexpr int64_t heads = 20, d = 250, rows = 70;
  const auto x = random_floats(rows * heads * d, 1);
  const auto gate = random_floats(rows * heads, 2);
  const std::vector<float> weight = random_floats(d, 3);
  const std::vector<float> frequencies = random_floats(d / 2, 4);
  std::vector<int32_t> positions(rows);
  std::iota(positions.begin(), positions.end(), 5);
  std::vector<float> expected;
  for (int threads : {1, 2, 5}) {
    const Device device(threads);
    Program program(device);
    program.max_rows = rows;
    const auto scratch = [&] {
      return program.scratch(RC_DTYPE_F32, {RC_DIM_ROWS, heads, d});
    };
    const int32_t px =
        program.input(RC_DTYPE_F32, {RC_DIM_ROWS, heads, d}, x.data());
    const int32_t pg =
        program.input(RC_DTYPE_F32, {RC_DIM_ROWS, heads}, gate.data());
    const int32_t where =
        program.input(RC_DTYPE_I32, {RC_DIM_ROWS}, positions.data());
    const int32_t norm =
        program.weight(RC_DTYPE_F32, {d}, weight.data(), RC_USE_ELEMENTS);
    const int32_t turn = program.weight(RC_DTYPE_F32, {d / 2},
                                        frequencies.data(), RC_USE_ELEMENTS);
    const int32_t a = scratch(), b = scratch();
    const int32_t gates = program.scratch(RC_DTYPE_F32, {RC_DIM_ROWS, heads});
    const int32_t y = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, d});
    program.op(RC_OP_SCALE, {px}, {a}).params.scale.factor = 0.5f;
    program.op(RC_OP_SCALE, {pg}, {gates}).params.scale.factor = 2;
    for (int i = 0; i < 5; ++i) {
      program.op(RC_OP_RMS_NORM, {a, norm}, {b}).params.norm.epsilon = 1e-5f;
      Op& rope = program.op(RC_OP_ROPE, {b, where, turn}, {b});
      rope.params.rope.scale = 1;
      rope.params.rope.style = RC_ROPE_HALVES;
      program.op(RC_OP_GLU, {a, b}, {b}).params.glu.function = RC_FUNCTION_SILU;
      program.op(RC_OP_SOFTCAP, {b}, {b}).params.softcap.cap = 3;
      program.op(RC_OP_ADD, {a, b}, {a});
    }
    program.op(RC_OP_EXPERT_SUM, {a, gates}, {y});
    SCOPED_TRACE(testing::Message() << threads << " threads");
    expect_same_bits(program, y, rows, 3, d, expected);
  }
}

TEST(CpuProgram, StopsSoonAndRunsAgain) {
  constexpr int64_t d = 2048;
  const auto x = random_floats(256 * d, 1);
  const auto weight = random_weight(RC_DTYPE_Q8_0, d, d, 2);
  const Device device(2, level_names().front());
  Program program(device);
  program.max_rows = 256;
  const int32_t px = program.input(RC_DTYPE_F32, {RC_DIM_ROWS, d}, x.data());
  const int32_t w =
      program.weight(RC_DTYPE_Q8_0, {d, d}, weight.data(), RC_USE_LINEAR);
  const int32_t y = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, d});
  for (int i = 0; i < 4; ++i) program.op(RC_OP_LINEAR, {px, w}, {y});

  using Clock = std::chrono::steady_clock;
  int calls = 0;
  Clock::time_point last{};
  std::chrono::nanoseconds longest{0};
  program.should_stop = [&] {
    const auto now = Clock::now();
    if (calls++ > 0)
      longest = std::max<std::chrono::nanoseconds>(longest, now - last);
    last = now;
    return false;
  };
  ASSERT_EQ(program.run(256), RC_OK) << program.message();
  EXPECT_GT(calls, 10);
  RecordProperty("longest_ns", static_cast<int>(longest.count()));

  const int all = calls;
  calls = 0;
  program.should_stop = [&] { return ++calls == 3; };
  EXPECT_EQ(program.run(256), RC_E_CANCELLED);
  EXPECT_EQ(calls, 3);
  EXPECT_LT(calls, all);
  program.should_stop = nullptr;
  EXPECT_EQ(program.run(256), RC_OK);
}

TEST(CpuBuffer, RangesAreChecked) {
  const rc_plugin& table = *cpu::plugin();
  const Device device;
  char message[RC_PLUGIN_MESSAGE_BYTES] = "";
  rc_plugin_buffer* buffer = nullptr;
  ASSERT_EQ(table.create_buffer(device.get(), 100, &buffer, message), RC_OK);
  char data[100] = {1};
  EXPECT_EQ(table.download(device.get(), buffer, 0, data, 100, message), RC_OK);
  EXPECT_EQ(data[0], 0) << "zero at first";
  data[7] = 9;
  EXPECT_EQ(table.upload(device.get(), buffer, 50, data, 50, message), RC_OK);
  EXPECT_EQ(table.copy(device.get(), buffer, 0, buffer, 40, 60, message),
            RC_OK);
  EXPECT_EQ(table.download(device.get(), buffer, 17, data, 1, message), RC_OK);
  EXPECT_EQ(data[0], 9);
  EXPECT_EQ(table.upload(device.get(), buffer, 51, data, 50, message),
            RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(table.download(device.get(), buffer, UINT64_MAX, data, 2, message),
            RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(table.copy(device.get(), buffer, 90, buffer, 0, 11, message),
            RC_E_INVALID_ARGUMENT);
  table.destroy_buffer(device.get(), buffer);
  EXPECT_EQ(table.create_buffer(device.get(), UINT64_MAX, &buffer, message),
            RC_E_OUT_OF_MEMORY);
  EXPECT_EQ(buffer, nullptr);
}

}  // namespace
}  // namespace rc::cpu_test
