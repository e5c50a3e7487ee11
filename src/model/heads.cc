#include "model/heads.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "model/softplus.h"

namespace rc::model {

int64_t position_steps(const HyperParameters& hyper) {
  constexpr int64_t kMost = 65536;
  return std::min(kMost, kMaxContext / hyper.ropes[0].original_context + 1);
}

std::vector<float> scales_of_positions(const HyperParameters& hyper) {
  std::vector<float> scales(static_cast<size_t>(position_steps(hyper)));
  for (size_t step = 0; step < scales.size(); ++step) {
    scales[step] = static_cast<float>(
        1.0 + hyper.position_scale * std::log1p(static_cast<double>(step)));
  }
  return scales;
}

runtime::Value add_position_scale(runtime::ProgramBuilder& builder,
                                  const HyperParameters& hyper,
                                  runtime::Value steps, runtime::Value q) {
  const runtime::Value scales =
      builder.get_rows(builder.weight(kPositionScaleWeight, RC_DTYPE_F32,
                                      {position_steps(hyper), 1}, RC_USE_ROWS),
                       steps);
  // A sum over one.
  const runtime::ProgramBuilder::Shape shape = builder.shape(q);
  return builder.expert_sum(
      builder.reshape(q, {shape.front(), 1, shape.back()}), scales);
}

namespace {

// The name of the weight that spreads a number of each head over its elements,
// [heads * size, heads]; no tensor of a file has it.
std::string spread_weight_name(int64_t heads, int64_t size) {
  return cat("(spread of ", heads, " over ", size, ")");
}

std::vector<float> spread_weight(int64_t heads, int64_t size) {
  std::vector<float> weight(static_cast<size_t>(heads * size * heads));
  for (int64_t row = 0; row < heads * size; ++row) {
    weight[static_cast<size_t>(row * heads + row / size)] = 1.0f;
  }
  return weight;
}

}  // namespace

int64_t softplus_gates(const gguf::File& file, const Architecture& architecture,
                       const HyperParameters& hyper, size_t layer) {
  const Layer& of = hyper.layers[layer];
  const int64_t elements = of.heads * given_size(hyper, of);
  const gguf::Tensor* const matrix =
      file.find_tensor(cat(architecture.names.layer, layer, ".",
                           architecture.names.attention_gate, ".weight"));
  const bool whole = matrix != nullptr && !matrix->shape.empty() &&
                     matrix->shape.front() == elements;
  return whole ? elements : of.heads;
}

namespace {

void make_spread(const gguf::File& file, int64_t heads, int64_t size,
                 MadeWeights& made) {
  constexpr int64_t kMost = int64_t{1} << 24;
  if (heads * heads * size > kMost) {
    fail(RC_E_UNSUPPORTED, file.name(), ": there are ", heads, " heads of ",
         size,
         " elements; models whose heads have a gate each can be computed if "
         "heads * heads * elements is at most ",
         kMost);
  }
  const std::string name = spread_weight_name(heads, size);
  if (!made.contains(name)) made.emplace(name, spread_weight(heads, size));
}

}  // namespace

void make_gates(const gguf::File& file, const Architecture& architecture,
                const HyperParameters& hyper, MadeWeights& made) {
  const bool softplus = architecture.attention.gate == AttentionGate::kSoftplus;
  if (architecture.attention.gate != AttentionGate::kOfHeads && !softplus) {
    return;
  }
  for (size_t i = 0; i < hyper.layers.size(); ++i) {
    const Layer& layer = hyper.layers[i];
    int64_t gates = layer.heads;
    if (softplus) {
      gates = softplus_gates(file, architecture, hyper, i);
      make_softplus(gates, made);
    }
    if (gates == layer.heads) {
      make_spread(file, layer.heads, given_size(hyper, layer), made);
    }
  }
}

runtime::Value add_spread(runtime::ProgramBuilder& builder, runtime::Value x,
                          int64_t size) {
  const int64_t heads = builder.shape(x).back();
  return builder.linear(
      x, builder.weight(spread_weight_name(heads, size), RC_DTYPE_F32,
                        {heads * size, heads}, RC_USE_LINEAR));
}

}  // namespace rc::model
