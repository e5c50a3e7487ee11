#include "model/lightning.h"

#include <cmath>

#include "base/error.h"

namespace rc::model {
namespace {

using runtime::Value;

// The epsilon of the norm of all heads, whatever the other norms of a model
// add: none of these models is trained with another one, and no file contains
// it.
constexpr float kHeadsEpsilon = 1e-6f;

// Makes the steps of the scan of state spaces 1: softplus(kStepOfOne) = 1.
constexpr double kStepOfOne = 0.54132485461291810;  // ln(e - 1)

// Names that no tensor of a file has.
constexpr const char* kNoSteps = "(steps of 0)";
constexpr const char* kStepBias = "(steps of 1)";
constexpr const char* kNoSkip = "(no skip)";

std::string decay_name(const std::string& layer) {
  return cat("(decay of ", layer, ")");
}

// The logarithm of what is left of the state of each head after a row.
std::vector<float> decays_of_layer(const HyperParameters& hyper,
                                   size_t number) {
  const auto heads = static_cast<double>(hyper.state_space.heads);
  const auto layers = static_cast<double>(hyper.layers.size());
  // The last layer fades very slowly.
  constexpr double kLeast = 1e-5;
  const double of_layer =
      1.0 - static_cast<double>(number) / (layers - 1.0 + kLeast) + kLeast;
  std::vector<float> result;
  for (double head = 1.0; head <= heads; head += 1.0) {
    result.push_back(
        static_cast<float>(-of_layer * std::exp2(-8.0 * head / heads)));
  }
  return result;
}

}  // namespace

void make_lightning(const HyperParameters& hyper, MadeWeights& made) {
  const auto heads = static_cast<size_t>(hyper.state_space.heads);
  for (size_t i = 0; i < hyper.layers.size(); ++i) {
    if (hyper.layers[i].mixer != Mixer::kLightning) continue;
    made.try_emplace(
        kNoSteps, std::vector<float>(heads * static_cast<size_t>(hyper.width)));
    made.try_emplace(kStepBias,
                     std::vector<float>(heads, static_cast<float>(kStepOfOne)));
    made.try_emplace(kNoSkip, std::vector<float>(heads));
    made.emplace(decay_name(cat("blk.", i, ".")), decays_of_layer(hyper, i));
  }
}

Value add_lightning(const StateLayer& layer, Value x) {
  runtime::ProgramBuilder& builder = layer.builder;
  Weights& weights = layer.weights;
  const TensorNames& names = layer.architecture.names;
  const StateSpace& space = layer.hyper.state_space;
  const int64_t width = layer.hyper.width;
  const int64_t size = space.size;
  const int64_t inner = space.inner();
  // One matrix has for each head the rows of its queries, keys and values.
  const auto product = [&](int64_t number) {
    const Value weight = weights.rows_of_heads(
        cat(layer.prefix, names.fused_attention, ".weight"), {3 * inner, width},
        {number * size, size, 3 * size}, RC_USE_LINEAR);
    return builder.reshape(
        builder.unary(builder.linear(x, weight), RC_FUNCTION_SILU),
        {RC_DIM_ROWS, space.heads, size});
  };
  const auto made = [&](const std::string& name, const Weights::Shape& shape,
                        uint32_t use) {
    return builder.weight(name, RC_DTYPE_F32, shape, use);
  };
  const Weights::Shape by_head = {space.heads};
  runtime::ProgramBuilder::Scan scan = {};
  scan.c = product(0);
  scan.b = product(1);
  scan.x = product(2);
  scan.steps =
      builder.linear(x, made(kNoSteps, {space.heads, width}, RC_USE_LINEAR));
  scan.step_bias = made(kStepBias, by_head, RC_USE_ELEMENTS);
  scan.decay = made(decay_name(layer.prefix), by_head, RC_USE_ELEMENTS);
  scan.skip = made(kNoSkip, by_head, RC_USE_ELEMENTS);
  const Value state = builder.cache(
      RC_DTYPE_F32, {layer.inputs.slot_count, space.heads, size, size});
  const Value y = builder.selective_scan(scan, layer.inputs.sequences,
                                         layer.inputs.slots, state);
  const Value normed = builder.rms_norm(
      builder.reshape(y, {RC_DIM_ROWS, inner}),
      weights.elements(layer.prefix + names.second_norm, {inner}),
      kHeadsEpsilon);
  const Value gate = builder.linear(
      x, weights.matrix(cat(layer.prefix, names.attention_gate, ".weight"),
                        {inner, width}, RC_USE_LINEAR));
  return builder.glu(gate, normed, RC_FUNCTION_SIGMOID);
}

}  // namespace rc::model
