#include "model/feed_forward.h"

#include "base/error.h"
#include "model/routing.h"

namespace rc::model {
namespace {

using runtime::kAbsent;
using runtime::Value;

class FeedForward : private LayerParts {
 public:
  explicit FeedForward(const LayerParts& parts) : LayerParts(parts) {}

  Value add(Value x, Value residual) {
    return layer().experts ? experts(x, residual) : dense(x, residual);
  }

 private:
  Value dense(Value x, Value residual);
  Value experts(Value x, Value residual);
  runtime::ProgramBuilder::Route routed(Value x);
  Value shared_expert(Value x);
  Value expert_linear(Value x, const char* name, int64_t size, Value ids);
  Value gated(Value gate, Value up);  // no gate: kAbsent
};

Value FeedForward::dense(Value x, Value residual) {
  const Presence bias = architecture_.feed_forward_bias;
  const int64_t size = layer().feed_forward;
  const Gate& how = architecture_.gate;
  const bool apart =
      how.fused_or_apart && weights_.has(in_layer(cat(names_.gate, ".weight")));
  if (how.fused && !apart) {
    const Value gate = linear_rows(x, names_.up, 2 * size, 0, size, bias);
    const Value up = linear_rows(x, names_.up, 2 * size, size, size, bias);
    return joined(gated(gate, up), names_.down, bias,
                  names_.post_feed_forward_norm, residual);
  }
  const Value gate =
      architecture_.gate.ungated ? kAbsent : linear(x, names_.gate, size, bias);
  const Value up = linear(x, names_.up, size, bias);
  return joined(gated(gate, up), names_.down, bias,
                names_.post_feed_forward_norm, residual);
}

Value FeedForward::experts(Value x, Value residual) {
  const int64_t size = hyper_.expert_feed_forward;
  const auto [ids, shares] = routed(x);
  const bool weighted = architecture_.weighted_inputs;
  const Value given = weighted ? add_times(builder_, x, shares) : x;
  const Value gate = expert_linear(given, names_.expert_gate, size, ids);
  const Value up = expert_linear(given, names_.expert_up, size, ids);
  const Value down =
      expert_linear(gated(gate, up), names_.expert_down, hyper_.width, ids);
  // One expert's rows are the sum.
  Value y = weighted ? builder_.reshape(down, builder_.shape(x))
                     : builder_.expert_sum(down, shares);
  y = scaled(y, hyper_.expert_scale);
  if (hyper_.shared_feed_forward > 0) y = builder_.add(y, shared_expert(x));
  return added(y, names_.post_feed_forward_norm, residual);
}

runtime::ProgramBuilder::Route FeedForward::routed(Value x) {
  const Value scores =
      linear(x, names_.router, hyper_.experts,
             architecture_.expert_bias ? Presence::kAlways : Presence::kNever);
  return add_routing(builder_, weights_, architecture_, hyper_, in_layer(""),
                     scores);
}

Value FeedForward::shared_expert(Value x) {
  const int64_t size = hyper_.shared_feed_forward;
  const Value gate = linear(x, names_.shared_gate, size);
  const Value up = linear(x, names_.shared_up, size);
  const Value y = linear(gated(gate, up), names_.shared_down, hyper_.width);
  if (!architecture_.gated_shared_expert) return y;
  const Value share = builder_.unary(
      builder_.linear(
          x, weights_.matrix(in_layer(names_.shared_router), {hyper_.width},
                             {1, hyper_.width}, RC_USE_LINEAR)),
      RC_FUNCTION_SIGMOID);
  return add_times(builder_, y, share);
}

Value FeedForward::expert_linear(Value x, const char* name, int64_t size,
                                 Value ids) {
  const std::string stem = in_layer(name);
  const std::string stacked = stem + ".weight";
  const std::string first = in_layer(cat(names_.gate, ".0.weight"));
  if (!weights_.has(stacked) && weights_.has(first)) {
    fail(RC_E_UNSUPPORTED, file_.name(),
         ": every expert has tensors of its own (", first,
         "), as written by converters before April 2024; convert the model "
         "again");
  }
  return builder_.expert_linear(
      x,
      weights_.matrix(stacked, {hyper_.experts, size, builder_.shape(x).back()},
                      RC_USE_EXPERTS),
      ids,
      architecture_.expert_bias
          ? weights_.elements(stem + ".bias", {hyper_.experts, size})
          : kAbsent);
}

Value FeedForward::gated(Value gate, Value up) {
  const Gate& how = architecture_.gate;
  if (how.times_itself) return builder_.glu(up, up, how.function);
  if (how.xielu) {
    const Xielu& of = layer().xielu;
    return builder_.xielu(up, {of.alpha_p, of.alpha_n, of.beta, of.epsilon});
  }
  if (how.ungated) return builder_.unary(up, how.function);
  return builder_.glu(gate, up, how.function, how.limit, how.offset);
}

}  // namespace

Value add_feed_forward(const LayerParts& parts, Value x, Value residual) {
  return FeedForward(parts).add(x, residual);
}

}  // namespace rc::model
