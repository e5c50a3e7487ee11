// The mixer of layers with the gated delta rule.
#include <cmath>

#include "model/state_parts.h"

namespace rc::model {
namespace {

using runtime::Value;

struct StepsAndRates {
  Value steps, rates;
};

// Two products, or one whose rows are rates, then steps, of the heads of each
// group in turn.
StepsAndRates steps_and_rates(const StateLayer& layer, Value x) {
  const TensorNames& names = layer.architecture.names;
  const StateSpace& space = layer.hyper.state_space;
  const Weights::Shape shape = {space.heads, layer.hyper.width};
  const std::string both = layer.prefix + names.rule_rates_and_steps;
  if (layer.architecture.attention.interleaved_groups) {
    const auto product = [&](const char* name) {
      return layer.builder.linear(
          x, layer.weights.matrix(layer.prefix + name, shape, RC_USE_LINEAR));
    };
    const Value rates = product(names.rule_rates);
    return {product(names.rule_steps), rates};
  }
  const int64_t each = space.heads / space.groups;
  const auto product = [&](int64_t first) {
    return layer.builder.linear(
        x, layer.weights.rows_of_heads(both, {2 * space.heads, shape[1]},
                                       {first, each, 2 * each}, RC_USE_LINEAR));
  };
  const Value rates = product(0);
  return {product(each), rates};
}

struct Given {
  Value q, k, v, gate;  // [rows, heads * elements]
};

// Queries, keys and values of one matrix and gates of another; or, in older
// files, all of one, in turn for each group.
Given given(const StateLayer& layer, Value x) {
  const TensorNames& names = layer.architecture.names;
  const StateSpace& space = layer.hyper.state_space;
  const int64_t keys = space.groups * space.size;
  const int64_t inner = space.inner();
  const int64_t rows = 2 * (keys + inner);
  const std::string whole = layer.prefix + names.space_in;
  if (layer.weights.has(whole)) {
    const int64_t values = inner / space.groups;
    const auto product = [&](int64_t first, int64_t count) {
      const RowsOfHeads of_groups = {first, count, rows / space.groups};
      return layer.builder.linear(
          x, layer.weights.rows_of_heads(whole, {rows, layer.hyper.width},
                                         of_groups, RC_USE_LINEAR));
    };
    return {product(0, space.size), product(space.size, space.size),
            product(2 * space.size, values),
            product(2 * space.size + values, values)};
  }
  Products products(layer, layer.prefix + names.fused_attention + ".weight",
                    rows - inner, x);
  const Value q = products.next(keys);
  const Value k = products.next(keys);
  const Value v = products.next(inner);
  return {q, k, v,
          Products(layer, cat(layer.prefix, names.attention_gate, ".weight"),
                   inner, x)
              .next(inner)};
}

}  // namespace

Value add_delta_rule(const StateLayer& layer, Value x) {
  runtime::ProgramBuilder& builder = layer.builder;
  Weights& weights = layer.weights;
  const TensorNames& names = layer.architecture.names;
  const StateSpace& space = layer.hyper.state_space;
  const int64_t inner = space.inner();
  const Given products = given(layer, x);
  Convolutions convolutions(layer, layer.prefix + names.space_conv,
                            2 * space.groups * space.size + inner,
                            RC_FUNCTION_SILU);
  const auto convolved = [&](Value values, int64_t heads, int64_t size) {
    return builder.reshape(convolutions.next(values),
                           {RC_DIM_ROWS, heads, size});
  };
  runtime::ProgramBuilder::DeltaRule rule = {};
  rule.q =
      add_key_norm(builder, convolved(products.q, space.groups, space.size),
                   1 / std::sqrt(static_cast<double>(space.size)));
  rule.k =
      add_key_norm(builder, convolved(products.k, space.groups, space.size), 1);
  rule.v = convolved(products.v, space.heads, space.head_size);
  const StepsAndRates both = steps_and_rates(layer, x);
  rule.steps = both.steps;
  rule.rates = builder.unary(both.rates, RC_FUNCTION_SIGMOID);
  rule.step_bias =
      weights.elements(layer.prefix + names.space_step_bias, {space.heads});
  rule.decay =
      weights.elements(layer.prefix + names.space_decay, {space.heads});
  rule.interleaved = layer.architecture.attention.interleaved_groups;
  const Value state = builder.cache(
      RC_DTYPE_F32,
      {layer.inputs.slot_count, space.heads, space.head_size, space.size});
  const Value y = builder.delta_rule(rule, layer.inputs.sequences,
                                     layer.inputs.slots, state);
  const Value norm_weight =
      weights.elements(layer.prefix + names.space_norm, {space.head_size});
  return builder.glu(products.gate,
                     builder.reshape(builder.rms_norm(y, norm_weight,
                                                      layer.hyper.norm_epsilon),
                                     {RC_DIM_ROWS, inner}),
                     RC_FUNCTION_SILU);
}

}  // namespace rc::model
