#include "runtime/profile.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runtime/program.h"
#include "runtime/registry.h"

namespace rc::runtime {
namespace {

using nlohmann::json;

// rows x [3, 64] of Q8_0, then the sum of the product and itself.
ProgramDescription product() {
  ProgramBuilder builder("first");
  const Value x = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 64});
  const Value w = builder.weight("w", RC_DTYPE_Q8_0, {3, 64}, RC_USE_LINEAR);
  const Value y = builder.linear(x, w);
  builder.begin_part("second");
  builder.output(builder.add(y, y));
  return std::move(builder).take();
}

TEST(OpList, DescribesOperandsAndBytesOfAnOp) {
  const ProgramDescription description = product();
  const OpList ops(description);
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_STREQ(ops.entry(0).name, "LINEAR");
  EXPECT_EQ(ops.entry(0).detail, "Q8_0 [3, 64]");
  EXPECT_STREQ(ops.entry(1).name, "ADD");
  EXPECT_EQ(ops.entry(1).detail, "F32 [rows, 3]");
  EXPECT_EQ(ops.entry(0).part, "first");
  EXPECT_EQ(ops.entry(0).weight, "w");
  EXPECT_EQ(ops.entry(1).part, "second");
  EXPECT_EQ(ops.entry(1).weight, "");
  const Rows rows = {5, 0, 1};
  EXPECT_EQ(ops.operations(0, rows), 2u * 5 * 3 * 64);
  EXPECT_EQ(ops.operations(1, rows), 0u);
  // The rows of two blocks of 34 bytes, 5 x 64 numbers in, 5 x 3 out.
  EXPECT_EQ(ops.bytes(0, rows), 3u * 2 * 34 + 4 * 5 * 64 + 4 * 5 * 3);
  EXPECT_EQ(ops.bytes(1, rows), 3u * 4 * 5 * 3);
}

TEST(OpList, CountsTheRequestedRowsOfATable) {
  ProgramBuilder builder;
  const Value ids = builder.input(RC_DTYPE_I32, {RC_DIM_ROWS});
  const Value table = builder.weight("t", RC_DTYPE_F32, {1000, 8}, RC_USE_ROWS);
  builder.output(builder.get_rows(table, ids));
  const ProgramDescription description = std::move(builder).take();
  const OpList ops(description);
  EXPECT_EQ(ops.bytes(0, {2, 0, 1}), 2u * 4 + 2u * 32 + 2u * 32);
}

TEST(Profile, DropsInvalidTimesAndTheOldestRecords) {
  const ProgramDescription description = product();
  const auto ops = std::make_shared<OpList>(description);
  const auto profile = Profile::create("test:0");
  profile->add(ops, {1, 0, 1}, 1000,
               {{0, 0, 50, 60}, {0, 1, 70, 65}, {0, 2, 70, 80}, {0, -1, 0, 1}});
  ASSERT_EQ(profile->records().size(), 1u);
  EXPECT_EQ(profile->records()[0].begin_ns, 1000);
  EXPECT_EQ(profile->records()[0].end_ns, 1010);
  const std::vector<rc_plugin_op_time> many(100'000, {0, 1, 0, 1});
  profile->add(ops, {1, 0, 1}, 0, many);
  profile->add(ops, {1, 0, 1}, 0, many);
  const size_t most = profile->records().size();
  EXPECT_GT(most, 100'000u);
  EXPECT_LT(most, 200'000u);
  EXPECT_EQ(profile->records().front().op, 1);
}

TEST(Profile, RecordsARunOnTheCpu) {
  Selection selection;
  selection.spec = "cpu";
  selection.device.profile = true;
  const auto device = select(selection).device;
  ASSERT_NE(device->profile(), nullptr);
  const ProgramDescription description = product();
  const std::vector<std::byte> weight(3 * 2 * 34);
  const auto program = Program::compile(
      device, description, {4, 0, 1},
      {device->create_weight(description.weights[0], weight.data())}, {});
  const std::vector<float> x(4 * 64, 1.0f);
  std::vector<float> y(4 * 3, 1.0f);
  for (const int64_t timeout : {-1, 600'000}) {
    RunArguments arguments;
    arguments.rows = 4;
    arguments.inputs = {x.data()};
    arguments.outputs_data = {y.data()};
    program->run(arguments, timeout);
  }
  const json trace = json::parse(trace_json({device->profile()}));
  const json& events = trace.at("traceEvents");
  ASSERT_EQ(events.size(), 1u + 2 * 2);
  EXPECT_EQ(events[0].at("args").at("name"), "cpu:0");
  double end = 0;
  for (size_t i = 1; i < events.size(); ++i) {
    EXPECT_EQ(events[i].at("name"), i % 2 == 1 ? "LINEAR" : "ADD");
    EXPECT_EQ(events[i].at("args").at("rows"), 4);
    EXPECT_EQ(events[i].at("args").at("part"), i % 2 == 1 ? "first" : "second");
    EXPECT_EQ(events[i].at("args").at("weight"), i % 2 == 1 ? "w" : "");
    // One after the other; rounded to nanoseconds.
    EXPECT_GE(events[i].at("ts").get<double>() + 0.002, end);
    end = events[i].at("ts").get<double>() + events[i].at("dur").get<double>();
  }
}

TEST(Profile, ExistsOnlyIfRequested) {
  EXPECT_EQ(select({"cpu", 0, {}}).device->profile(), nullptr);
}

}  // namespace
}  // namespace rc::runtime
