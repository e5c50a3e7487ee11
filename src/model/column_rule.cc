// The mixer of layers with the delta rule whose states fade by the column.
#include <cmath>

#include "base/error.h"
#include "model/state_parts.h"

namespace rc::model {

using runtime::Value;

Value add_column_rule(const StateLayer& layer, Value x) {
  runtime::ProgramBuilder& builder = layer.builder;
  Weights& weights = layer.weights;
  const TensorNames& names = layer.architecture.names;
  const StateSpace& space = layer.hyper.state_space;
  const int64_t heads = space.heads;
  const int64_t size = space.size;
  const int64_t inner = space.inner();
  const Weights::Shape by_head = {RC_DIM_ROWS, heads, size};
  const auto product = [&](Value y, const char* name, int64_t rows) {
    return builder.linear(
        y, weights.matrix(cat(layer.prefix, name, ".weight"),
                          {rows, builder.shape(y).back()}, RC_USE_LINEAR));
  };
  // Through a vector of one head's size.
  const auto through = [&](const char* down, const char* up) {
    return builder.reshape(product(product(x, down, size), up, inner), by_head);
  };
  const auto convolved = [&](const char* name, const char* conv) {
    const int64_t width = space.conv_width;
    const Value state = builder.cache(
        RC_DTYPE_F32, {layer.inputs.slot_count, width - 1, inner});
    const Value weight = weights.all_elements(
        cat(layer.prefix, conv, ".weight"), {inner, width});
    return builder.reshape(
        builder.short_conv(product(x, name, inner), weight, runtime::kAbsent,
                           layer.inputs.sequences, layer.inputs.slots, state,
                           RC_FUNCTION_SILU),
        by_head);
  };
  runtime::ProgramBuilder::ColumnDeltaRule rule = {};
  rule.q = add_key_norm(builder, convolved(names.query, names.rule_query_conv),
                        1 / std::sqrt(static_cast<double>(size)));
  rule.k = add_key_norm(builder, convolved(names.key, names.rule_key_conv), 1);
  rule.v = convolved(names.value, names.rule_value_conv);
  rule.steps = through(names.rule_steps_down, names.rule_steps_up);
  rule.rates = builder.unary(
      builder.linear(x,
                     weights.matrix(layer.prefix + names.rule_rates,
                                    {heads, layer.hyper.width}, RC_USE_LINEAR)),
      RC_FUNCTION_SIGMOID);
  rule.step_bias = weights.elements(layer.prefix + names.space_step_bias,
                                    {inner}, {heads, size});
  rule.decay = weights.all_elements(layer.prefix + names.space_decay, {heads});
  const Value state =
      builder.cache(RC_DTYPE_F32, {layer.inputs.slot_count, heads, size, size});
  const Value y = builder.column_delta_rule(rule, layer.inputs.sequences,
                                            layer.inputs.slots, state);
  const Value normed = builder.rms_norm(
      y, weights.elements(layer.prefix + names.space_norm, {size}),
      layer.hyper.norm_epsilon);
  const Value gate = through(names.rule_gate_down, names.rule_gate_up);
  return builder.reshape(builder.glu(gate, normed, RC_FUNCTION_SIGMOID),
                         {RC_DIM_ROWS, inner});
}

}  // namespace rc::model
