#include "model/sparsity.h"

#include <cmath>

#include "model/routing.h"

namespace rc::model {
namespace {

using runtime::kAbsent;
using runtime::Value;

// Added to a mean of squares only so that rows of zeros stay what they are.
constexpr float kNothing = 1e-20f;

// The mean of the products of the elements of two rows, [rows, 1].
Value mean_product(runtime::ProgramBuilder& builder, Value a, Value b) {
  const int64_t size = builder.shape(a).back();
  return builder.linear(builder.multiply(a, b),
                        builder.weight(mean_weight_name(size), RC_DTYPE_F32,
                                       {1, size}, RC_USE_LINEAR));
}

}  // namespace

std::string mean_weight_name(int64_t size) {
  return cat("(mean of ", size, ")");
}

std::string cutoff_weight_name(int64_t layer) {
  return cat("(cut-off of layer ", layer, ")");
}

std::vector<float> mean_weight(int64_t size) {
  return std::vector<float>(static_cast<size_t>(size),
                            1.0f / static_cast<float>(size));
}

void make_row_weights(const HyperParameters& hyper, MadeWeights& made) {
  const auto add_mean = [&](int64_t size) {
    made.try_emplace(mean_weight_name(size), mean_weight(size));
  };
  if (hyper.streams.count > 1) add_mean(hyper.width);
  for (int64_t i = 0; i < hyper.layer_count(); ++i) {
    const Layer& layer = hyper.layers[static_cast<size_t>(i)];
    if (std::isinf(layer.cutoff)) continue;
    add_mean(layer.feed_forward);
    made.emplace(cutoff_weight_name(i),
                 std::vector<float>(static_cast<size_t>(layer.feed_forward),
                                    -layer.cutoff));
  }
}

Value add_magnitude(runtime::ProgramBuilder& builder, Value x, Value unit) {
  return mean_product(builder, x, unit);
}

Value add_unit(runtime::ProgramBuilder& builder, Value x) {
  return builder.plain_norm(x, kNothing);
}

Value add_cutoff(runtime::ProgramBuilder& builder, const HyperParameters& hyper,
                 int64_t layer, Value gate) {
  const int64_t size = hyper.layers[static_cast<size_t>(layer)].feed_forward;
  // In standard deviations, which are the mean of the products with the gate.
  const Value distance = builder.layer_norm(gate, kAbsent, kAbsent, kNothing);
  const Value deviation = mean_product(builder, gate, distance);
  const Value kept = builder.unary(
      builder.affine(distance, kAbsent,
                     builder.weight(cutoff_weight_name(layer), RC_DTYPE_F32,
                                    {size}, RC_USE_ELEMENTS)),
      RC_FUNCTION_RELU);
  return add_times(builder, kept, deviation);
}

}  // namespace rc::model
