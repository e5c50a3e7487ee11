#include "model/feed_forward.h"

#include <cmath>

#include "base/error.h"
#include "model/routing.h"
#include "model/sparsity.h"

namespace rc::model {
namespace {

using runtime::kAbsent;
using runtime::Value;

class FeedForward : private LayerParts {
 public:
  explicit FeedForward(const LayerParts& parts) : LayerParts(parts) {}

  Value add(Value x, Value residual) {
    if (!layer().experts) return dense(x, residual);
    return architecture_.experts.beside_dense ? both(x, residual)
                                              : experts(x, residual);
  }

 private:
  using Route = runtime::ProgramBuilder::Route;

  Value dense(Value x, Value residual);
  // The factor of the last matrix of a dense part.
  Value opened(Value x);
  Value experts(Value x, Value residual);
  Value both(Value x, Value residual);
  // The sum over the chosen experts.
  Value mixture(Value x, const Route& route);
  Route routed(Value x);
  // Whose shares are multiplied by numbers of the experts.
  Route scaled_route(Value x);
  // One of two halves of each expert's rows, of which `first` is the first.
  Value half_of_expert(Value x, int64_t first, Value ids);
  Value shared_expert(Value x);
  Value expert_linear(Value x, const char* name, int64_t size, Value ids);
  // No gate: kAbsent. `limit`: see Layer::gate_limit.
  Value gated(Value gate, Value up, float limit);
};

Value FeedForward::dense(Value x, Value residual) {
  Value y = opened(x);
  if (architecture_.norm.inner) y = norm(y, names_.feed_forward_inner_norm);
  return joined(y, names_.down, architecture_.feed_forward.bias,
                names_.post_feed_forward_norm, residual);
}

Value FeedForward::opened(Value x) {
  const Presence bias = architecture_.feed_forward.bias;
  const int64_t size = layer().feed_forward;
  const Gate& how = architecture_.feed_forward.gate;
  const bool apart =
      how.fused_or_apart && weights_.has(in_layer(cat(names_.gate, ".weight")));
  if (how.fused && !apart) {
    const Value gate = linear_rows(x, names_.up, 2 * size, 0, size, bias);
    const Value up = linear_rows(x, names_.up, 2 * size, size, size, bias);
    return gated(gate, up, layer().gate_limit);
  }
  const bool none =
      how.ungated ||
      (how.optional && !weights_.has(in_layer(cat(names_.gate, ".weight"))));
  Value gate = none ? kAbsent : linear(x, names_.gate, size, bias);
  if (!std::isinf(layer().cutoff)) {
    gate = add_cutoff(builder_, hyper_, static_cast<int64_t>(number_), gate);
  }
  return gated(gate, linear(x, names_.up, size, bias), layer().gate_limit);
}

Value FeedForward::mixture(Value x, const Route& route) {
  const int64_t size = hyper_.expert_feed_forward;
  const auto [ids, shares] = route;
  const int64_t width =
      hyper_.expert_width > 0 ? hyper_.expert_width : hyper_.width;
  const bool weighted = architecture_.experts.weighted_inputs;
  const Value given = weighted ? add_times(builder_, x, shares) : x;
  const bool fused = !architecture_.feed_forward.gate.ungated &&
                     weights_.has(in_layer(names_.expert_gate_up));
  Value gate = kAbsent;
  if (fused) {
    gate = half_of_expert(given, 0, ids);
  } else if (!architecture_.feed_forward.gate.ungated) {
    gate = expert_linear(given, names_.expert_gate, size, ids);
  }
  const Value up = fused ? half_of_expert(given, size, ids)
                         : expert_linear(given, names_.expert_up, size, ids);
  const Value down = expert_linear(gated(gate, up, layer().expert_limit),
                                   names_.expert_down, width, ids);
  // One expert's rows are the sum.
  const Value sum = weighted ? builder_.reshape(down, builder_.shape(x))
                             : builder_.expert_sum(down, shares);
  const std::string bias = in_layer(cat(names_.expert_down, ".bias"));
  const gguf::Tensor* tensor = file_.find_tensor(bias);
  // All experts share a vector.
  if (tensor == nullptr || tensor->shape.size() != 1) return sum;
  return builder_.affine(sum, kAbsent, weights_.elements(bias, {width}));
}

Value FeedForward::experts(Value x, Value residual) {
  const Route route = routed(x);
  const bool latent = hyper_.expert_width > 0;
  const Value given =
      latent ? linear(x, names_.expert_latent_down, hyper_.expert_width) : x;
  Value y = scaled(mixture(given, route), hyper_.expert_scale);
  if (latent) y = linear(y, names_.expert_latent_up, hyper_.width);
  if (hyper_.shared_feed_forward > 0) {
    y = builder_.add(y, shared_expert(x));
    if (architecture_.experts.averaged_shared) y = builder_.scale(y, 0.5f);
  }
  return added(y, names_.post_feed_forward_norm, residual);
}

Value FeedForward::both(Value x, Value residual) {
  const Value dense = norm(linear(opened(x), names_.down, hyper_.width),
                           names_.post_dense_norm);
  const Value chosen =
      mixture(norm(residual, names_.expert_norm), scaled_route(residual));
  return added(builder_.add(dense, norm(chosen, names_.post_expert_norm)),
               names_.post_feed_forward_norm, residual);
}

FeedForward::Route FeedForward::scaled_route(Value x) {
  const Value unit = builder_.rms_norm(
      x, weights_.elements(in_layer(names_.router_scale), {hyper_.width}),
      hyper_.norm_epsilon);
  Route route = routed(
      builder_.scale(unit, 1.0f / std::sqrt(static_cast<float>(hyper_.width))));
  const std::string scales = in_layer(names_.expert_scales);
  if (!weights_.has(scales)) return route;
  // Each share is a row of one element, which the expert has a matrix for.
  const runtime::ProgramBuilder::Shape shape = builder_.shape(route.weights);
  const Value rows =
      builder_.reshape(route.weights, {shape.front(), shape.back(), 1});
  route.weights = builder_.reshape(
      builder_.expert_linear(
          rows,
          weights_.matrix(scales, {hyper_.experts}, {hyper_.experts, 1, 1},
                          RC_USE_EXPERTS),
          route.ids),
      shape);
  return route;
}

Value FeedForward::half_of_expert(Value x, int64_t first, Value ids) {
  const int64_t size = hyper_.expert_feed_forward;
  return builder_.expert_linear(
      x,
      weights_.rows_of_heads(
          in_layer(names_.expert_gate_up),
          {hyper_.experts, 2 * size, builder_.shape(x).back()},
          {first, size, 2 * size}, RC_USE_EXPERTS),
      ids);
}

FeedForward::Route FeedForward::routed(Value x) {
  const Value scores =
      linear(x, names_.router, hyper_.experts,
             architecture_.experts.bias ? Presence::kAlways : Presence::kNever);
  return add_routing(builder_, weights_, architecture_, hyper_, in_layer(""),
                     scores);
}

Value FeedForward::shared_expert(Value x) {
  const int64_t size = hyper_.shared_feed_forward;
  const auto part = [&](const char* name, int64_t rows, int64_t first) {
    return linear_rows(x, name, rows, first, size, Presence::kNever);
  };
  // One matrix may have the rows of the gate, then those of the other product.
  const gguf::Tensor* both =
      file_.find_tensor(in_layer(cat(names_.shared_up, ".weight")));
  const bool fused =
      !architecture_.feed_forward.gate.ungated && both != nullptr &&
      !both->shape.empty() && both->shape[0] == 2 * size &&
      !weights_.has(in_layer(cat(names_.shared_gate, ".weight")));
  Value gate = kAbsent;
  if (fused) {
    gate = part(names_.shared_up, 2 * size, 0);
  } else if (!architecture_.feed_forward.gate.ungated) {
    gate = linear(x, names_.shared_gate, size);
  }
  const Value up = fused ? part(names_.shared_up, 2 * size, size)
                         : linear(x, names_.shared_up, size);
  const Value y = linear(gated(gate, up, layer().gate_limit),
                         names_.shared_down, hyper_.width);
  if (!architecture_.experts.gated_shared) return y;
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
         ": every expert has separate tensors (", first,
         "), as written by converters before April 2024; convert the model "
         "again");
  }
  return builder_.expert_linear(
      x,
      weights_.matrix(stacked, {hyper_.experts, size, builder_.shape(x).back()},
                      RC_USE_EXPERTS),
      ids,
      architecture_.experts.bias
          ? weights_.elements(stem + ".bias", {hyper_.experts, size})
          : kAbsent);
}

Value FeedForward::gated(Value gate, Value up, float limit) {
  Gate how = architecture_.feed_forward.gate;
  if (hyper_.activation >= 0) {
    how.function = hyper_.activation;
    how.times_itself = hyper_.activation_times_itself;
  }
  if (how.times_itself) {
    const Value given = gate == kAbsent ? up : gate;
    const Value square = builder_.glu(given, given, how.function);
    return gate == kAbsent ? square : builder_.multiply(square, up);
  }
  if (how.xielu) {
    const Xielu& of = layer().xielu;
    Op op = {.code = RC_OP_XIELU};
    op.params.xielu = {of.alpha_p, of.alpha_n, of.beta, of.epsilon};
    return builder_.append(op, {up})[0];
  }
  if (how.ungated) return builder_.unary(up, how.function);
  if (gate == kAbsent) return builder_.unary(up, RC_FUNCTION_RELU);
  if (limit > 0.0f) {
    // The function gives nothing that is as far below 0 as a limit may be.
    return builder_.multiply(
        builder_.clamp(builder_.unary(gate, how.function), limit),
        builder_.clamp(up, limit));
  }
  return builder_.glu(gate, up, how.function, how.limit, how.offset);
}

}  // namespace

Value add_feed_forward(const LayerParts& parts, Value x, Value residual) {
  return FeedForward(parts).add(x, residual);
}

}  // namespace rc::model
