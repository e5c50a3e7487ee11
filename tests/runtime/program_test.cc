#include "runtime/program.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"
#include "expect_error.h"
#include "runtime/registry.h"

namespace rc::runtime {
namespace {

using test::error_of;

std::shared_ptr<Device> reference() {
  return select({"reference", 0, {}}).device;
}

// y = W x + b, doubled: two ops with a weight that is asked for by name.
struct Doubled {
  Doubled() {
    ProgramBuilder builder;
    const Value x = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 3});
    const Value w = builder.weight("w", RC_DTYPE_F32, {2, 3}, RC_USE_LINEAR);
    const Value b = builder.weight("b", RC_DTYPE_F32, {2}, RC_USE_ELEMENTS);
    const Value y = builder.linear(x, w, b);
    builder.output(builder.add(y, y));
    device = reference();
    description = std::move(builder).take();
    for (const WeightInfo& info : description.weights) {
      const std::vector<float> data = info.name == "w"
                                          ? std::vector<float>{1, 2, 3, 4, 5, 6}
                                          : std::vector<float>{10, 20};
      weights.push_back(device->create_weight(info, data.data()));
    }
    program = Program::compile(device, description, {4, 0, 0}, weights, {});
  }
  std::shared_ptr<Device> device;
  ProgramDescription description;
  std::vector<std::shared_ptr<Weight>> weights;
  std::unique_ptr<Program> program;
};

TEST(Program, RunsAnyNumberOfRows) {
  Doubled doubled;
  const std::vector<float> x = {1, 0, 0, 0, 1, 1};
  for (int64_t timeout : {-1, 600'000}) {
    for (int64_t rows : {2, 1, 0}) {
      std::vector<float> y(4, -1);
      doubled.program->run({rows, 0, 0, {x.data()}, {y.data()}}, timeout);
      const std::vector<float> expected = {22, 48, 30, 62};
      for (int64_t i = 0; i < 4; ++i) {
        EXPECT_EQ(y[i], i < 2 * rows ? expected[i] : -1) << rows << " " << i;
      }
    }
  }
}

TEST(Program, RefusesMismatchedArguments) {
  Doubled doubled;
  Program& program = *doubled.program;
  const std::vector<float> x(12);
  std::vector<float> y(8);
  const auto status = [&](const RunArguments& arguments) {
    return error_of([&] { program.run(arguments, -1); }).status();
  };
  EXPECT_EQ(status({4, 0, 0, {x.data()}, {y.data()}}), RC_OK);
  EXPECT_EQ(status({5, 0, 0, {x.data()}, {y.data()}}), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status({-1, 0, 0, {x.data()}, {y.data()}}), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status({1, 1, 0, {x.data()}, {y.data()}}), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status({1, 0, 0, {}, {y.data()}}), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status({1, 0, 0, {nullptr}, {y.data()}}), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status({1, 0, 0, {x.data()}, {nullptr}}), RC_E_INVALID_ARGUMENT);
}

TEST(Program, StopsWhenAsked) {
  Doubled doubled;
  const std::vector<float> x(3);
  std::vector<float> y(2);
  RunArguments arguments = {1, 0, 0, {x.data()}, {y.data()}};
  arguments.should_stop = [](void*) { return 1; };
  for (int64_t timeout : {-1, 600'000}) {
    EXPECT_EQ(
        error_of([&] { doubled.program->run(arguments, timeout); }).status(),
        RC_E_CANCELLED);
  }
}

TEST(Program, RefusesWrongNumbersOfWeights) {
  Doubled doubled;
  doubled.weights.pop_back();
  EXPECT_EQ(error_of([&] {
              Program::compile(doubled.device, doubled.description, {1, 0, 0},
                               doubled.weights, {});
            }).status(),
            RC_E_INVALID_ARGUMENT);
}

TEST(ProgramBuilder, ShapeMismatchErrorNamesBothShapes) {
  ProgramBuilder builder;
  const Value x = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 3});
  const Value w = builder.weight("w", RC_DTYPE_F32, {2, 4}, RC_USE_LINEAR);
  const Error error = error_of([&] { builder.linear(x, w); });
  EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT);
  EXPECT_NE(error.message().find("F32 [rows, 3]"), std::string::npos)
      << error.message();
  EXPECT_NE(error.message().find("F32 [2, 4]"), std::string::npos);
  // The refused op has left nothing.
  const ProgramDescription description = std::move(builder).take();
  EXPECT_EQ(description.ops.size(), 0u);
  EXPECT_EQ(description.values.size(), 2u);
}

// Each breaks one rule of an op that is good without it.
TEST(ProgramBuilder, RefusesInvalidNormsAndFunctionsOfRows) {
  ProgramBuilder builder;
  const Value x = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 8});
  const Value fixed = builder.input(RC_DTYPE_F32, {8});
  const Value ids = builder.input(RC_DTYPE_I32, {RC_DIM_ROWS, 8});
  const Value deep = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 1, 1, 8});
  const Value w = builder.weight("w", RC_DTYPE_F32, {8}, RC_USE_ELEMENTS);
  const Value wide = builder.weight("wide", RC_DTYPE_F32, {9}, RC_USE_ELEMENTS);
  const Value half = builder.weight("half", RC_DTYPE_F16, {8}, RC_USE_ELEMENTS);
  builder.layer_norm(x, w, w, 0.5f);
  builder.layer_norm(x, kAbsent, kAbsent, 0);
  builder.unary(deep, RC_FUNCTION_RELU);
  const auto expect_refused = [&](const char* part, auto function) {
    const Error error = error_of(function);
    EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT);
    EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
  };
  expect_refused("weight is F32 [9]",
                 [&] { builder.layer_norm(x, wide, w, 0); });
  expect_refused("bias is F16 [8]", [&] { builder.layer_norm(x, w, half, 0); });
  expect_refused("bias is an input F32 [8] where a weight is needed",
                 [&] { builder.layer_norm(x, w, fixed, 0); });
  expect_refused("x is I32", [&] { builder.layer_norm(ids, w, w, 0); });
  expect_refused("where F32 [R, heads?, d] is needed",
                 [&] { builder.layer_norm(deep, w, w, 0); });
  expect_refused("epsilon is -1", [&] { builder.layer_norm(x, w, w, -1); });
  expect_refused("function is number 0",
                 [&] { builder.unary(x, RC_FUNCTION_NONE); });
  expect_refused("function is number 99", [&] { builder.unary(x, 99); });
  expect_refused("x is I32", [&] { builder.unary(ids, RC_FUNCTION_RELU); });
  expect_refused("x is a weight", [&] { builder.unary(w, RC_FUNCTION_RELU); });
}

TEST(ProgramBuilder, RefusesInvalidLengths) {
  ProgramBuilder builder;
  const Value q = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 2, 8});
  const Value row = builder.input(RC_DTYPE_I32, {RC_DIM_ROWS});
  const Value table = builder.input(RC_DTYPE_I32, {RC_DIM_SEQUENCES, 3});
  const Value keys = builder.cache(RC_DTYPE_F32, {4, 1, 16, 8});
  const Value lengths = builder.input(RC_DTYPE_I32, {RC_DIM_SEQUENCES});
  const Value floats = builder.input(RC_DTYPE_F32, {RC_DIM_SEQUENCES});
  const Value sinks =
      builder.weight("sinks", RC_DTYPE_F32, {2}, RC_USE_ELEMENTS);
  const auto attend = [&](Value given, int64_t window, Value more = kAbsent) {
    builder.attention(q, keys, keys, row, row, table, 1, 0, window, more,
                      given);
  };
  attend(lengths, 0, sinks);
  attend(lengths, 5);
  attend(kAbsent, 5, sinks);
  const auto expect_refused = [&](const char* part, Value given, int64_t window,
                                  Value more = kAbsent) {
    const Error error = error_of([&] { attend(given, window, more); });
    EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT);
    EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
  };
  expect_refused("window is 5", lengths, 5, sinks);
  expect_refused("window is -1", kAbsent, -1);
  expect_refused("lengths is F32 [sequences]", floats, 0);
  expect_refused("lengths is I32 [rows]", row, 0);
  expect_refused("lengths is I32 [sequences, 3]", table, 0);
}

TEST(ProgramBuilder, DistinguishesWeightsByName) {
  ProgramBuilder builder;
  const Value table = builder.weight("w", RC_DTYPE_F32, {8, 4}, RC_USE_ROWS);
  EXPECT_EQ(builder.weight("w", RC_DTYPE_F32, {8, 4}, RC_USE_LINEAR), table);
  EXPECT_NE(builder.weight("v", RC_DTYPE_F32, {8, 4}, RC_USE_LINEAR), table);
  EXPECT_EQ(error_of([&] {
              builder.weight("w", RC_DTYPE_F16, {8, 4}, RC_USE_LINEAR);
            }).status(),
            RC_E_INVALID_ARGUMENT);
  const ProgramDescription description = std::move(builder).take();
  ASSERT_EQ(description.weights.size(), 2u);
  EXPECT_EQ(description.weights[0].uses,
            static_cast<uint32_t>(RC_USE_ROWS | RC_USE_LINEAR));
}

TEST(ProgramBuilder, ReshapesOnlyTheDimensionsAfterTheRows) {
  ProgramBuilder builder;
  const Value x = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 12});
  EXPECT_EQ(builder.shape(builder.reshape(x, {RC_DIM_ROWS, 3, 4})),
            (ProgramBuilder::Shape{RC_DIM_ROWS, 3, 4}));
  for (const ProgramBuilder::Shape& shape :
       {ProgramBuilder::Shape{RC_DIM_ROWS, 3, 5},
        ProgramBuilder::Shape{RC_DIM_OUTPUTS, 12}, ProgramBuilder::Shape{12, 1},
        ProgramBuilder::Shape{}, ProgramBuilder::Shape{RC_DIM_ROWS, -1}}) {
    EXPECT_EQ(error_of([&] { builder.reshape(x, shape); }).status(),
              RC_E_INVALID_ARGUMENT);
  }
}

TEST(ProgramBuilder, OutputsIncludeTheirReshapes) {
  ProgramBuilder builder;
  const Value x = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 4});
  const Value y = builder.scale(x, 2);
  const Value view = builder.reshape(y, {RC_DIM_ROWS, 2, 2});
  EXPECT_EQ(builder.output(y), 0);
  EXPECT_EQ(builder.output(view), 0);
  EXPECT_EQ(builder.output(builder.scale(view, 2)), 1);
  EXPECT_EQ(error_of([&] { builder.output(x); }).status(),
            RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(error_of([&] { builder.output(99); }).status(),
            RC_E_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace rc::runtime
