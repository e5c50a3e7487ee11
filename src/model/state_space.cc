#include "model/state_space.h"

#include "model/lightning.h"
#include "model/state_parts.h"
#include "model/step_limits.h"

namespace rc::model {

using runtime::Value;

Value add_state_space(const StateLayer& layer, Value x) {
  runtime::ProgramBuilder& builder = layer.builder;
  Weights& weights = layer.weights;
  const TensorNames& names = layer.architecture.names;
  const StateSpace& space = layer.hyper.state_space;
  const int64_t inner = space.inner();
  const int64_t grouped = space.groups * space.size;
  const int64_t channels = inner + 2 * grouped;
  Products products(layer, layer.prefix + names.space_in,
                    inner + channels + space.heads, x);
  Convolutions convolutions(layer, layer.prefix + names.space_conv, channels,
                            RC_FUNCTION_SILU);
  const Value gate = products.next(inner);
  const Value values = products.next(inner);
  const Value b = products.next(grouped);
  const Value c = products.next(grouped);
  const Weights::Shape heads = {space.heads};
  const Weights::Shape column = {space.heads, 1};
  const Weights::Shape in_groups = {RC_DIM_ROWS, space.groups, space.size};
  runtime::ProgramBuilder::Scan scan = {};
  scan.steps = products.next(space.heads);
  scan.x = builder.reshape(convolutions.next(values),
                           {RC_DIM_ROWS, space.heads, space.head_size});
  scan.b = builder.reshape(convolutions.next(b), in_groups);
  scan.c = builder.reshape(convolutions.next(c), in_groups);
  const RawSteps limited = limit_steps(
      builder, space,
      {scan.steps,
       weights.elements(layer.prefix + names.space_step_bias, heads)});
  scan.steps = limited.steps;
  scan.step_bias = limited.bias;
  scan.decay =
      weights.elements(layer.prefix + names.space_decay, column, heads);
  scan.skip = weights.elements(layer.prefix + names.space_skip, column, heads);
  const Value state = builder.cache(
      RC_DTYPE_F32,
      {layer.inputs.slot_count, space.heads, space.head_size, space.size});
  const Value y = builder.selective_scan(scan, layer.inputs.sequences,
                                         layer.inputs.slots, state);
  const Value gated = builder.glu(
      gate, builder.reshape(y, {RC_DIM_ROWS, inner}), RC_FUNCTION_SILU);
  const std::string norm = layer.prefix + names.space_norm;
  if (layer.architecture.recurrence.optional_norm && !weights.has(norm)) {
    return gated;
  }
  const int64_t size = inner / space.groups;
  const Value weight = weights.elements(norm, {space.groups, size});
  const Value normed = builder.group_norm(
      builder.reshape(gated, {RC_DIM_ROWS, space.groups, size}), weight,
      layer.hyper.norm_epsilon);
  return builder.reshape(normed, {RC_DIM_ROWS, inner});
}

Value add_channel_space(const StateLayer& layer, Value x) {
  runtime::ProgramBuilder& builder = layer.builder;
  Weights& weights = layer.weights;
  const TensorNames& names = layer.architecture.names;
  const StateSpace& space = layer.hyper.state_space;
  const int64_t inner = space.inner();
  Products products(layer, layer.prefix + names.space_in, 2 * inner, x);
  const Value values = products.next(inner);
  const Value gate = products.next(inner);
  runtime::ProgramBuilder::ChannelScan scan = {};
  scan.x = Convolutions(layer, layer.prefix + names.space_conv, inner,
                        RC_FUNCTION_SILU)
               .next(values);
  Products parameters(layer, layer.prefix + names.space_parameters,
                      space.rank + 2 * space.size, scan.x);
  const auto normed = [&](const char* name, int64_t size) {
    const Value y = parameters.next(size);
    if (space.plain_epsilon > 0.0f) {
      return builder.plain_norm(y, space.plain_epsilon);
    }
    return layer.architecture.recurrence.parameter_norms
               ? builder.rms_norm(y,
                                  weights.elements(layer.prefix + name, {size}),
                                  layer.hyper.norm_epsilon)
               : y;
  };
  const Value low = normed(names.space_step_norm, space.rank);
  scan.b = normed(names.space_b_norm, space.size);
  scan.c = normed(names.space_c_norm, space.size);
  const std::string steps = layer.prefix + names.space_steps;
  scan.steps = builder.linear(
      low,
      weights.matrix(steps + ".weight", {inner, space.rank}, RC_USE_LINEAR),
      weights.elements(steps + ".bias", {inner}));
  scan.decay =
      weights.elements(layer.prefix + names.space_decay, {inner, space.size});
  scan.skip = weights.elements(layer.prefix + names.space_skip, {inner});
  const Value state =
      builder.cache(RC_DTYPE_F32, {layer.inputs.slot_count, inner, space.size});
  const Value y = builder.channel_scan(scan, layer.inputs.sequences,
                                       layer.inputs.slots, state);
  return builder.glu(gate, y, RC_FUNCTION_SILU);
}

Value add_short_conv(const StateLayer& layer, Value x) {
  runtime::ProgramBuilder& builder = layer.builder;
  const TensorNames& names = layer.architecture.names;
  const int64_t width = layer.hyper.width;
  Products products(layer, layer.prefix + names.conv_in, 3 * width, x);
  const Value before = products.next(width);
  const Value behind = products.next(width);
  const Value values = builder.multiply(before, products.next(width));
  const Value y =
      Convolutions(layer, layer.prefix + names.conv, width, RC_FUNCTION_NONE)
          .next(values);
  return builder.multiply(behind, y);
}

std::optional<Recurrent> add_recurrent(const StateLayer& layer, Mixer mixer,
                                       Value x) {
  const TensorNames& names = layer.architecture.names;
  switch (mixer) {
    case Mixer::kAttention:
    case Mixer::kTimeMix6:
    case Mixer::kTimeMix7:
    case Mixer::kNone:
      break;
    case Mixer::kStateSpace:
    case Mixer::kBoth:
      return Recurrent{add_state_space(layer, x), names.space_out};
    case Mixer::kChannelSpace:
      return Recurrent{add_channel_space(layer, x), names.space_out};
    case Mixer::kShortConv:
      return Recurrent{add_short_conv(layer, x), names.conv_out};
    case Mixer::kLightning:
      return Recurrent{add_lightning(layer, x), names.attention_output};
    case Mixer::kColumnRule:
      return Recurrent{add_column_rule(layer, x), names.attention_output};
    case Mixer::kDeltaRule:
      return Recurrent{add_delta_rule(layer, x), names.space_out};
  }
  return std::nullopt;
}

}  // namespace rc::model
