// Programs, runs and plans of scratch memory that are refused, with the values
// and limits of the message, and the nearest that are right.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "expect_error.h"
#include "runtime/program.h"
#include "runtime/registry.h"
#include "runtime/split.h"

namespace rc::runtime {
namespace {

template <class Call>
void expect_refused(const std::string& message, const Call& call) {
  test::expect_error(RC_E_INVALID_ARGUMENT, message, call);
}

// y = x + w; the keys of a page table are stored in a cache.
struct Stored {
  Stored() {
    ProgramBuilder builder;
    const Value x = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 1, 4});
    const Value positions = builder.input(RC_DTYPE_I32, {RC_DIM_ROWS});
    const Value sequences = builder.input(RC_DTYPE_I32, {RC_DIM_ROWS});
    const Value table = builder.input(RC_DTYPE_I32, {RC_DIM_SEQUENCES, 1});
    const Value flat = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 4});
    const Value cache = builder.cache(RC_DTYPE_F32, {2, 1, 8, 4});
    const Value w = builder.weight("w", RC_DTYPE_F32, {2, 4}, RC_USE_LINEAR);
    builder.cache_store(x, positions, sequences, table, cache);
    builder.output(builder.linear(flat, w));
    description = std::move(builder).take();
    const float numbers[] = {1, 2, 3, 4, 5, 6, 7, 8};
    weights = {device->create_weight(description.weights[0], numbers)};
    caches = {device->create_buffer(2 * 8 * 4 * sizeof(float))};
  }
  std::unique_ptr<Program> compile() const {
    return Program::compile(device, description, {4, 3, 2}, weights, caches);
  }
  std::unique_ptr<Program> compile_split() const {
    const std::vector<size_t> device_of_op = {0, 0};
    return Program::compile(split(description, device_of_op, 1, {4, 3, 2}),
                            {{device, weights, caches}});
  }
  std::shared_ptr<Device> device = select({"reference", 0, {}}).device;
  ProgramDescription description;
  std::vector<std::shared_ptr<Weight>> weights;
  std::vector<std::shared_ptr<Buffer>> caches;
};

TEST(ProgramErrors, WrongCountsOfWeightsAndCachesAreRefused) {
  const Stored whole;
  for (const auto& [weights, caches] :
       {std::pair<size_t, size_t>{0, 1}, {2, 1}, {1, 0}, {1, 2}}) {
    Stored given = whole;
    given.weights.resize(weights);
    given.caches.resize(caches);
    expect_refused("a program of 1 weights and 1 caches was given " +
                       std::to_string(weights) + " and " +
                       std::to_string(caches),
                   [&] { given.compile(); });
  }
  EXPECT_NE(whole.compile(), nullptr);
}

TEST(ProgramErrors, MissingWeightsAndCachesOfPartsAreRefused) {
  const Stored whole;
  for (const bool null : {false, true}) {
    Stored given = whole;
    given.weights.assign(null ? 1 : 0, nullptr);
    expect_refused("a program was not given weight 0",
                   [&] { given.compile_split(); });
    given = whole;
    given.caches.assign(null ? 1 : 0, nullptr);
    expect_refused("a program was not given cache 0",
                   [&] { given.compile_split(); });
  }
  EXPECT_NE(whole.compile_split(), nullptr);
}

class RunErrors : public testing::Test {
 protected:
  RunArguments arguments(int64_t rows, int64_t outputs, int64_t sequences) {
    return {rows,
            outputs,
            sequences,
            {x.data(), positions.data(), zeros.data(), table.data(), x.data()},
            {y.data()}};
  }
  const Stored stored;
  const std::unique_ptr<Program> program = stored.compile();
  const std::vector<float> x = std::vector<float>(16, 1);
  const std::vector<int32_t> positions = {0, 1, 2, 3};
  const std::vector<int32_t> zeros = {0, 0, 0, 0};
  const std::vector<int32_t> table = {0, 1};
  std::vector<float> y = std::vector<float>(8);
};

TEST_F(RunErrors, CountsOutOfRangeAreRefused) {
  const auto refuse = [&](const char* message, const RunArguments& given) {
    expect_refused(message, [&] { program->run(given, -1); });
  };
  refuse("a run of 5 rows; the program was compiled for 0 to 4",
         arguments(5, 0, 1));
  refuse("a run of -1 rows; the program was compiled for 0 to 4",
         arguments(-1, 0, 1));
  refuse("a run of 4 outputs; the program was compiled for 0 to 3",
         arguments(1, 4, 1));
  refuse("a run of -1 outputs; the program was compiled for 0 to 3",
         arguments(1, -1, 1));
  refuse("a run of 3 sequences; the program was compiled for 0 to 2",
         arguments(1, 0, 3));
  refuse("a run of -1 sequences; the program was compiled for 0 to 2",
         arguments(1, 0, -1));
  program->run(arguments(4, 3, 2), -1);
  EXPECT_EQ(y, (std::vector<float>{10, 26, 10, 26, 10, 26, 10, 26}));
}

TEST_F(RunErrors, MissingPointersAreRefused) {
  const auto refuse = [&](const char* message, const RunArguments& given) {
    expect_refused(message, [&] { program->run(given, -1); });
  };
  RunArguments given = arguments(1, 0, 1);
  given.inputs.pop_back();
  refuse("a run with 4 inputs and 1 outputs of a program with 5 and 1", given);
  given = arguments(1, 0, 1);
  given.inputs.push_back(x.data());
  refuse("a run with 6 inputs and 1 outputs of a program with 5 and 1", given);
  given = arguments(1, 0, 1);
  given.outputs_data.clear();
  refuse("a run with 5 inputs and 0 outputs of a program with 5 and 1", given);
  given.outputs_data = {y.data(), y.data()};
  refuse("a run with 5 inputs and 2 outputs of a program with 5 and 1", given);
  for (size_t i = 0; i < 5; ++i) {
    given = arguments(1, 0, 1);
    given.inputs[i] = nullptr;
    refuse(("input " + std::to_string(i) + " of a run is NULL").c_str(), given);
  }
  given = arguments(1, 0, 1);
  given.outputs_data[0] = nullptr;
  refuse("output 0 of a run is NULL", given);
  given.stage = 1;
  refuse("a run of stage 1, which the program does not have", given);
  // Nothing is read or written where there are no rows.
  program->run({0, 0, 0, {5, nullptr}, {nullptr}}, -1);
}

TEST(BuilderErrors, UnknownValuesAreRefused) {
  ProgramBuilder builder;
  expect_refused("there is no value 0 in a program of 0 values",
                 [&] { builder.shape(0); });
  const Value x = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 4});
  ASSERT_EQ(x, 0);
  expect_refused("there is no value 1 in a program of 1 values",
                 [&] { builder.shape(1); });
  expect_refused("there is no value -1 in a program of 1 values",
                 [&] { builder.output(-1); });
  EXPECT_EQ(builder.shape(0), (ProgramBuilder::Shape{RC_DIM_ROWS, 4}));
  expect_refused(
      "value 0, F32 [rows, 4], is not the result of an op, so it cannot be an "
      "output",
      [&] { builder.output(x); });
  EXPECT_EQ(builder.output(builder.scale(x, 2)), 0);
}

TEST(BuilderErrors, ValuesHaveOneToFourDimensions) {
  ProgramBuilder builder;
  for (const size_t rank : {0, 5}) {
    const ProgramBuilder::Shape shape(rank, 1);
    const std::string message =
        "a value of rank " + std::to_string(rank) + "; 1 to 4 are possible";
    expect_refused(message, [&] { builder.input(RC_DTYPE_F32, shape); });
    expect_refused(message, [&] { builder.cache(RC_DTYPE_F32, shape); });
    expect_refused(message, [&] {
      builder.weight("w", RC_DTYPE_F32, shape, RC_USE_ELEMENTS);
    });
  }
  EXPECT_EQ(builder.shape(builder.input(RC_DTYPE_F32, {3})),
            ProgramBuilder::Shape{3});
  EXPECT_EQ(builder.shape(builder.input(RC_DTYPE_F32, {1, 2, 3, 4})),
            (ProgramBuilder::Shape{1, 2, 3, 4}));
  // Refused values have left nothing.
  const ProgramDescription description = std::move(builder).take();
  EXPECT_EQ(description.values.size(), 2u);
  EXPECT_EQ(description.input_count, 2u);
  EXPECT_TRUE(description.weights.empty());
  EXPECT_TRUE(description.caches.empty());
}

TEST(BuilderErrors, WeightCannotChangeTypeOrShape) {
  ProgramBuilder builder;
  const Value w = builder.weight("w", RC_DTYPE_F32, {8, 4}, RC_USE_ROWS);
  const std::string message =
      "weight w is F32 [8, 4], but is now asked for with another type or shape";
  const auto ask = [&](DType dtype, const ProgramBuilder::Shape& shape) {
    return builder.weight("w", dtype, shape, RC_USE_LINEAR);
  };
  expect_refused(message, [&] { ask(RC_DTYPE_F16, {8, 4}); });
  expect_refused(message, [&] { ask(RC_DTYPE_F32, {8, 5}); });
  expect_refused(message, [&] { ask(RC_DTYPE_F32, {32}); });
  EXPECT_EQ(ask(RC_DTYPE_F32, {8, 4}), w);
}

TEST(BuilderErrors, ReshapesOfTheFirstDimensionAreRefused) {
  ProgramBuilder builder;
  const Value x = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 12});
  const Value w = builder.weight("w", RC_DTYPE_F32, {2, 12}, RC_USE_LINEAR);
  const Value cache = builder.cache(RC_DTYPE_F32, {1, 1, 2, 12});
  for (const Value fixed : {w, cache}) {
    expect_refused("a weight or cache cannot be reshaped",
                   [&] { builder.reshape(fixed, {24}); });
  }
  const std::string end = ": only dimensions after the first may be regrouped";
  expect_refused("F32 [rows, 12] cannot be reshaped to F32 [rows, 3, 5]" + end,
                 [&] {
                   builder.reshape(x, {RC_DIM_ROWS, 3, 5});
                 });
  expect_refused("F32 [rows, 12] cannot be reshaped to F32 [outputs, 12]" + end,
                 [&] {
                   builder.reshape(x, {RC_DIM_OUTPUTS, 12});
                 });
  EXPECT_EQ(builder.shape(builder.reshape(x, {RC_DIM_ROWS, 3, 4})),
            (ProgramBuilder::Shape{RC_DIM_ROWS, 3, 4}));
}

}  // namespace
}  // namespace rc::runtime
