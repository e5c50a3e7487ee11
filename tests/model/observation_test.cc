// Programs whose outputs are the inputs of their products.
#include "model/observation.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "expect_error.h"
#include "model/model_file.h"
#include "model/weight_name.h"
#include "tensor/value.h"
#include "test_data.h"

namespace rc::model {
namespace {

std::set<std::string> observed_tensors_of(
    const ModelFile& file, const runtime::ProgramDescription& program,
    uint32_t uses) {
  std::set<std::string> names;
  for (const runtime::WeightInfo& weight : program.weights) {
    if ((weight.uses & uses) == 0) continue;
    const gguf::Tensor* tensor = tensor_of_weight(file.file(), weight.name);
    if (tensor != nullptr) names.insert(std::string(tensor->name));
  }
  return names;
}

TEST(Observation, CoversEveryProductOfEveryArchitecture) {
  const CacheLayout layout = {
      .dtype = RC_DTYPE_F32, .pages = 1, .pages_per_sequence = 1, .slots = 1};
  for (const auto& entry : std::filesystem::directory_iterator(
           test::source_path("tests/golden/architectures"))) {
    if (entry.path().extension() != ".gguf") continue;
    SCOPED_TRACE(entry.path().filename());
    const auto file = ModelFile::open(entry.path().string());
    runtime::ProgramDescription program = file->forward(layout);
    if (file->source() != nullptr) {
      EXPECT_ANY_THROW(observe_products(file->file(), program));
      continue;
    }
    std::set<std::string> expected =
        observed_tensors_of(*file, program, RC_USE_LINEAR | RC_USE_EXPERTS);
    // A matrix for the keys and values of all heads is multiplied in parts,
    // some of them transposed. Each matrix of a stack has a separate input.
    // Numbers of experts are not a matrix.
    std::erase_if(expected, [&](const std::string& name) {
      return name.ends_with("attn_kv_b.weight") || name.starts_with("altup_") ||
             (name.ends_with("time_mix_w2.weight") &&
              file->file().find_tensor(name)->shape.size() == 3) ||
             name.ends_with("ffn_down_exps.scale");
    });
    const size_t ops = program.ops.size();
    const Observation observation = observe_products(file->file(), program);
    std::set<std::string> seen;
    for (const ObservedInput& input : observation.inputs) {
      ASSERT_LT(input.values, observation.outputs.size());
      const rc_plugin_value& value = observation.outputs[input.values];
      EXPECT_EQ(value.dtype, RC_DTYPE_F32);
      EXPECT_EQ(value_bytes(value, {1, 1, 1}),
                sizeof(float) *
                    static_cast<uint64_t>(
                        input.width * (input.each_its_own ? input.chosen : 1)));
      if (input.ids == ObservedInput::kNone) {
        // No experts, or all of them in each row.
        EXPECT_EQ(input.experts, input.experts > 0 ? input.chosen : 0);
      } else {
        EXPECT_LT(input.chosen, input.experts);
      }
      for (const std::string& tensor : input.tensors) {
        EXPECT_TRUE(seen.insert(tensor).second) << tensor << " twice";
        EXPECT_EQ(file->file().find_tensor(tensor)->shape.back(), input.width);
      }
    }
    EXPECT_EQ(seen, expected);
    EXPECT_LT(program.ops.size(), ops);
    EXPECT_EQ(program.output_count, observation.outputs.size());
    EXPECT_GT(observation.bytes_per_row(), 0u);
    // It is a program as any other.
    runtime::plan_scratch(program, {4, 4, 1});
  }
}

TEST(Observation, ProgramWithoutProductsIsRefused) {
  const auto file = ModelFile::open(
      test::source_path("tests/golden/architectures/llama2.gguf").string());
  runtime::ProgramBuilder builder;
  const runtime::Value table =
      builder.weight("token_embd.weight", RC_DTYPE_F32, {8, 4}, RC_USE_ROWS);
  const runtime::Value ids = builder.input(RC_DTYPE_I32, {RC_DIM_ROWS});
  builder.output(builder.get_rows(table, ids));
  runtime::ProgramDescription program = std::move(builder).take();
  test::expect_error(RC_E_UNSUPPORTED,
                     file->file().name() + ": the model has no products",
                     [&] { observe_products(file->file(), program); });
}

// Also of the first op of a program.
TEST(Observation, ProductOfAnInputIsRefused) {
  const auto file = ModelFile::open(
      test::source_path("tests/golden/architectures/llama2.gguf").string());
  runtime::ProgramBuilder builder;
  const runtime::Value x = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 4});
  builder.output(
      builder.linear(x, builder.weight("blk.0.attn_q.weight", RC_DTYPE_F32,
                                       {8, 4}, RC_USE_LINEAR)));
  runtime::ProgramDescription program = std::move(builder).take();
  test::expect_error(RC_E_UNSUPPORTED,
                     file->file().name() +
                         ": the input of blk.0.attn_q.weight is not computed, "
                         "so it cannot be observed",
                     [&] { observe_products(file->file(), program); });
}

// One op before the product is enough, and what is behind it is left out.
TEST(Observation, EndsWithTheOpThatMakesTheLastInput) {
  const auto file = ModelFile::open(
      test::source_path("tests/golden/architectures/llama2.gguf").string());
  runtime::ProgramBuilder builder;
  const runtime::Value x = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 4});
  const runtime::Value half = builder.scale(x, 0.5f);
  builder.output(
      builder.linear(half, builder.weight("blk.0.attn_q.weight", RC_DTYPE_F32,
                                          {8, 4}, RC_USE_LINEAR)));
  runtime::ProgramDescription program = std::move(builder).take();
  const Observation observation = observe_products(file->file(), program);
  ASSERT_EQ(program.ops.size(), 1u);
  EXPECT_EQ(program.ops[0].code, RC_OP_SCALE);
  EXPECT_EQ(program.parts.size(), 1u);
  EXPECT_TRUE(program.weights.empty());
  EXPECT_EQ(observation.bytes_per_row(), 4 * sizeof(float));
  ASSERT_EQ(observation.inputs.size(), 1u);
  EXPECT_EQ(observation.inputs[0].width, 4);
  EXPECT_EQ(observation.inputs[0].tensors,
            std::vector<std::string>{"blk.0.attn_q.weight"});
}

}  // namespace
}  // namespace rc::model
