#include "model/state_space.h"

namespace rc::model {
namespace {

using runtime::kAbsent;
using runtime::Value;

// The rows of one matrix, and the channels of one convolution, belong to
// several values, which are taken one after the other.
class Parts {
 public:
  Parts(runtime::ProgramBuilder& builder, Weights& weights,
        const TensorNames& names, const HyperParameters& hyper,
        const std::string& layer, Value x, const StateInputs& inputs)
      : builder_(builder),
        weights_(weights),
        space_(hyper.state_space),
        width_(hyper.width),
        in_(layer + names.space_in),
        conv_(layer + names.space_conv),
        x_(x),
        inputs_(inputs),
        channels_(space_.inner() + 2 * space_.groups * space_.size) {}

  // The product with the next rows of the matrix.
  Value product(int64_t count) {
    const Value weight = weights_.matrix_rows(
        in_, {space_.inner() + channels_ + space_.heads, width_}, row_, count,
        RC_USE_LINEAR);
    row_ += count;
    return builder_.linear(x_, weight);
  }

  // Through the next channels of the convolution.
  Value convolved(Value values) {
    const int64_t count = builder_.shape(values).back();
    const Value weight = weights_.element_rows(
        conv_ + ".weight", {channels_, space_.conv_width}, channel_, count);
    const Value bias = weights_.has(conv_ + ".bias")
                           ? weights_.element_rows(conv_ + ".bias", {channels_},
                                                   channel_, count)
                           : kAbsent;
    channel_ += count;
    const Value state = builder_.cache(
        RC_DTYPE_F32, {inputs_.slot_count, space_.conv_width - 1, count});
    return builder_.short_conv(values, weight, bias, inputs_.sequences,
                               inputs_.slots, state, RC_FUNCTION_SILU);
  }

 private:
  runtime::ProgramBuilder& builder_;
  Weights& weights_;
  const StateSpace& space_;
  const int64_t width_;
  const std::string in_;
  const std::string conv_;
  const Value x_;
  const StateInputs& inputs_;
  const int64_t channels_;
  int64_t row_ = 0;
  int64_t channel_ = 0;
};

}  // namespace

Value add_state_space(runtime::ProgramBuilder& builder, Weights& weights,
                      const TensorNames& names, const HyperParameters& hyper,
                      const std::string& layer, Value x,
                      const StateInputs& inputs) {
  const StateSpace& space = hyper.state_space;
  const int64_t inner = space.inner();
  const int64_t grouped = space.groups * space.size;
  Parts parts(builder, weights, names, hyper, layer, x, inputs);
  const Value gate = parts.product(inner);
  const Value values = parts.product(inner);
  const Value b = parts.product(grouped);
  const Value c = parts.product(grouped);
  const Weights::Shape heads = {space.heads};
  const Weights::Shape column = {space.heads, 1};
  runtime::ProgramBuilder::Scan scan = {};
  scan.steps = parts.product(space.heads);
  scan.x = builder.reshape(parts.convolved(values),
                           {RC_DIM_ROWS, space.heads, space.head_size});
  scan.b = builder.reshape(parts.convolved(b),
                           {RC_DIM_ROWS, space.groups, space.size});
  scan.c = builder.reshape(parts.convolved(c),
                           {RC_DIM_ROWS, space.groups, space.size});
  scan.step_bias = weights.elements(layer + names.space_step_bias, heads);
  scan.decay = weights.elements(layer + names.space_decay, column, heads);
  scan.skip = weights.elements(layer + names.space_skip, column, heads);
  const Value state = builder.cache(
      RC_DTYPE_F32,
      {inputs.slot_count, space.heads, space.head_size, space.size});
  const Value y =
      builder.selective_scan(scan, inputs.sequences, inputs.slots, state);
  return builder.rms_norm(
      builder.glu(gate, builder.reshape(y, {RC_DIM_ROWS, inner}),
                  RC_FUNCTION_SILU),
      weights.elements(layer + names.space_norm,
                       {space.groups, inner / space.groups}, {inner}),
      hyper.norm_epsilon);
}

}  // namespace rc::model
