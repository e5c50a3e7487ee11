// Experts on another device than the rest of their layers.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "model/expert_ops.h"
#include "model/model_util.h"
#include "model/placement.h"
#include "model/resident_model.h"
#include "runcible/plugin_ops.h"

namespace rc::test {
namespace {

// The layers on one device, the experts on the other.
std::unique_ptr<model::ResidentModel> load_split(
    const std::shared_ptr<const model::ModelFile>& file,
    const std::string& layers, const std::string& experts,
    int64_t layer_count = 0) {
  model::ResidentOptions options = options_of({});
  options.experts_on = open_device(experts);
  options.experts_on_layers = layer_count;
  model::Placement placement =
      model::place(*file, options, open_device(layers));
  return model::ResidentModel::load(file, std::move(placement), options, {});
}

// By the names that files give them.
bool is_of_experts(const runtime::ProgramDescription& program, const Op& op) {
  if (op.code != RC_OP_EXPERT_LINEAR) return false;
  const rc_plugin_value& weight =
      program.values[static_cast<size_t>(op.inputs[1])];
  return program.weights[static_cast<size_t>(weight.index)].name.find("exps") !=
         std::string::npos;
}

TEST(ExpertsElsewhere, AreTheProductsUpToTheirSum) {
  size_t mixtures = 0;
  for (const std::string& name : golden_architectures()) {
    const auto file = golden_model(name);
    if (file->hyper_parameters().experts == 0) continue;
    SCOPED_TRACE(name);
    ++mixtures;
    const runtime::ProgramDescription program =
        file->forward(options_of({}).cache, false);
    size_t products = 0;
    size_t sums = 0;
    for (const size_t number : model::expert_ops(program)) {
      const int32_t code = program.ops[number].code;
      products += code == RC_OP_EXPERT_LINEAR ? 1 : 0;
      sums += code == RC_OP_EXPERT_SUM ? 1 : 0;
      // What all rows of a layer have in common stays.
      for (const int32_t other :
           {RC_OP_LINEAR, RC_OP_ROUTE, RC_OP_ATTENTION, RC_OP_RMS_NORM}) {
        EXPECT_NE(code, other);
      }
    }
    EXPECT_EQ(products,
              static_cast<size_t>(std::count_if(
                  program.ops.begin(), program.ops.end(),
                  [&](const Op& op) { return is_of_experts(program, op); })));
    // Of one expert nothing is added up.
    EXPECT_EQ(sums > 0, file->hyper_parameters().experts_used > 1);
    EXPECT_GT(products, 0u);
  }
  EXPECT_GT(mixtures, 20u);
}

TEST(ExpertsElsewhere, LogitsAreThoseOfOneDevice) {
  for (const std::string& name : golden_architectures()) {
    const auto file = golden_model(name);
    if (file->hyper_parameters().experts == 0) continue;
    SCOPED_TRACE(name);
    const auto whole = load(file, "reference");
    const std::vector<float> expected = evaluate_case(*whole, name);
    // Both compute alike, so that nothing but the place differs.
    const auto split = load_split(file, "reference", "cpu");
    EXPECT_LT(normalized_error(evaluate_case(*split, name), expected), 1e-5);
    const auto other = load_split(file, "cpu", "reference");
    EXPECT_LT(normalized_error(evaluate_case(*other, name), expected), 1e-5);
  }
}

TEST(ExpertsElsewhere, WeightsLieWhereTheyAreUsed) {
  const auto file = golden_model("qwen3moe");
  const auto whole = load(file, "reference");
  const auto split = load_split(file, "reference", "cpu");
  const model::MemoryPlan& memory = split->memory();
  ASSERT_EQ(memory.devices.size(), 2u);
  const model::DeviceMemory& layers = memory.devices[0];
  const model::DeviceMemory& experts = memory.devices[1];
  EXPECT_EQ(layers.expert_layers, 0);
  EXPECT_EQ(experts.expert_layers, layers.layers);
  EXPECT_EQ(experts.layers, 0);
  EXPECT_EQ(layers.layers,
            static_cast<int64_t>(file->hyper_parameters().layers.size()));
  EXPECT_GT(experts.weights, 0u);
  EXPECT_LT(layers.weights, whole->memory().weights);
  EXPECT_EQ(experts.cache, 0u);
  EXPECT_EQ(layers.cache, whole->memory().cache);
}

TEST(ExpertsElsewhere, OfTheLastLayersAlone) {
  // Its first layer has no experts.
  const auto file = golden_model("glm4moe");
  const auto whole = load(file, "reference");
  const std::vector<float> expected = evaluate_case(*whole, "glm4moe");
  const auto all = load_split(file, "reference", "cpu");
  const int64_t mixtures = all->memory().devices[1].expert_layers;
  ASSERT_GT(mixtures, 1);
  ASSERT_LT(mixtures, all->memory().devices[0].layers);
  uint64_t weights = 0;
  for (int64_t layers = 1; layers <= mixtures + 1; ++layers) {
    const auto split = load_split(file, "reference", "cpu", layers);
    const model::DeviceMemory& experts = split->memory().devices[1];
    EXPECT_EQ(experts.expert_layers, std::min(layers, mixtures));
    EXPECT_EQ(experts.weights > weights, layers <= mixtures);
    weights = experts.weights;
    EXPECT_LT(normalized_error(evaluate_case(*split, "glm4moe"), expected),
              1e-5);
  }
  EXPECT_EQ(weights, all->memory().devices[1].weights);
}

TEST(ExpertsElsewhere, OnTheDeviceOfTheirLayersNothingChanges) {
  const auto file = golden_model("qwen3moe");
  const auto split = load_split(file, "reference", "reference");
  EXPECT_EQ(split->memory().devices.size(), 1u);
  EXPECT_EQ(split->memory().devices[0].expert_layers,
            split->memory().devices[0].layers);
  EXPECT_EQ(evaluate_case(*split, "qwen3moe"),
            evaluate_case(*load(file, "reference"), "qwen3moe"));
}

}  // namespace
}  // namespace rc::test
