#include "model/state_parts.h"

#include <cmath>

namespace rc::model {

using runtime::kAbsent;
using runtime::Value;

Value Products::next(int64_t count) {
  const Value weight = layer_.weights.matrix_rows(
      weight_, {size_, layer_.builder.shape(x_).back()}, row_, count,
      RC_USE_LINEAR);
  row_ += count;
  return layer_.builder.linear(x_, weight);
}

Value Convolutions::next(Value values) {
  const int64_t count = layer_.builder.shape(values).back();
  const int64_t width = layer_.hyper.state_space.conv_width;
  const Value weight = layer_.weights.element_rows(
      name_ + ".weight", {channels_, width}, channel_, count);
  const Value bias = layer_.weights.has(name_ + ".bias")
                         ? layer_.weights.element_rows(
                               name_ + ".bias", {channels_}, channel_, count)
                         : kAbsent;
  channel_ += count;
  const Value state = layer_.builder.cache(
      RC_DTYPE_F32, {layer_.inputs.slot_count, width - 1, count});
  return layer_.builder.short_conv(values, weight, bias,
                                   layer_.inputs.sequences, layer_.inputs.slots,
                                   state, function_);
}

Value add_key_norm(runtime::ProgramBuilder& builder, Value x, double factor) {
  // x / sqrt(sum(x^2) + epsilon); norms give a length of the root of the size.
  constexpr double kEpsilon = 1e-6;
  const auto size = static_cast<double>(builder.shape(x).back());
  return builder.scale(
      builder.plain_norm(x, static_cast<float>(kEpsilon / size)),
      static_cast<float>(factor / std::sqrt(size)));
}

}  // namespace rc::model
