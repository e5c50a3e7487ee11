#include "model/layer_parts.h"

#include "model/heads.h"
#include "model/norm.h"
#include "model/softplus.h"

namespace rc::model {

runtime::Value LayerParts::norm(Value x, const char* name) {
  return add_norm(builder_, weights_, architecture_, hyper_.norm_epsilon, x,
                  in_layer(name));
}

runtime::Value LayerParts::norm_before(Value x, const char* name) {
  const NormPlace place = architecture_.norm.place;
  return place == NormPlace::kBefore || place == NormPlace::kAround
             ? norm(x, name)
             : x;
}

runtime::Value LayerParts::linear(Value x, const char* name, int64_t size,
                                  Presence bias, Value residual) {
  const std::string stem = in_layer(name);
  const Value weight = weights_.matrix(
      stem + ".weight", {size, builder_.shape(x).back()}, RC_USE_LINEAR);
  return builder_.linear(x, weight,
                         has_bias(stem, bias)
                             ? weights_.elements(stem + ".bias", {size})
                             : runtime::kAbsent,
                         residual);
}

runtime::Value LayerParts::linear_rows(Value x, const char* name, int64_t size,
                                       int64_t first, int64_t count,
                                       Presence bias) {
  const std::string stem = in_layer(name);
  const Value weight =
      weights_.matrix_rows(stem + ".weight", {size, builder_.shape(x).back()},
                           first, count, RC_USE_LINEAR);
  return builder_.linear(
      x, weight,
      has_bias(stem, bias)
          ? weights_.element_rows(stem + ".bias", {size}, first, count)
          : runtime::kAbsent);
}

runtime::Value LayerParts::projection(Value x, const char* name, int64_t first,
                                      int64_t size) {
  const Presence bias = architecture_.attention.qkv_bias;
  // Newer converters may join the three matrices of any model but those whose
  // queries have gates or whose layers share keys.
  const bool joinable =
      architecture_.attention.gate != AttentionGate::kWithQueries &&
      !architecture_.attention.keys_for_values &&
      !architecture_.attention.shared_caches &&
      weights_.has(in_layer(cat(names_.fused_attention, ".weight")));
  if (architecture_.attention.fused != Presence::kAlways && !joinable) {
    return linear(x, name, size, bias);
  }
  const int64_t all = (layer().heads + layer().kv_heads) * layer().key_size +
                      layer().kv_heads * layer().value_size;
  return linear_rows(x, names_.fused_attention, all, first, size, bias);
}

runtime::Value LayerParts::query_pieces(Value x, int64_t first) {
  const int64_t size = layer().key_size;
  return builder_.linear(
      x, weights_.rows_of_heads(
             in_layer(cat(names_.query, ".weight")),
             {2 * layer().heads * size, builder_.shape(x).back()},
             {first, size, 2 * size}, RC_USE_LINEAR));
}

runtime::Value LayerParts::gated_heads(Value x, Value given) {
  const int64_t size = given_size(hyper_, layer());
  const auto times_sigmoid = [&](Value gates) {
    return builder_.glu(gates, given, RC_FUNCTION_SIGMOID);
  };
  switch (architecture_.attention.gate) {
    case AttentionGate::kNone:
      break;
    case AttentionGate::kWithQueries:
      return times_sigmoid(query_pieces(x, layer().key_size));
    case AttentionGate::kOfElements:
      return times_sigmoid(
          linear(x, names_.attention_gate, layer().heads * size));
    case AttentionGate::kOfHeads:
      return times_sigmoid(add_spread(
          builder_, linear(x, names_.attention_gate, layer().heads), size));
    case AttentionGate::kSoftplus: {
      const int64_t count =
          softplus_gates(file_, architecture_, hyper_, number_);
      const Value gates =
          add_softplus(builder_, linear(x, names_.attention_gate, count));
      return builder_.multiply(
          count == layer().heads ? add_spread(builder_, gates, size) : gates,
          given);
    }
  }
  return given;
}

runtime::Value LayerParts::joined(Value x, const char* name, Presence bias,
                                  const char* post_norm, Value residual) {
  if (normed_behind() || hyper_.residual_scale != 1.0f) {
    return added(linear(x, name, hyper_.width, bias), post_norm, residual);
  }
  const Value sum = linear(x, name, hyper_.width, bias, residual);
  return architecture_.norm.place == NormPlace::kOfSums ? norm(sum, post_norm)
                                                        : sum;
}

runtime::Value LayerParts::added(Value y, const char* post_norm,
                                 Value residual) {
  if (normed_behind()) y = norm(y, post_norm);
  const Value sum = builder_.add(residual, scaled(y, hyper_.residual_scale));
  return architecture_.norm.place == NormPlace::kOfSums ? norm(sum, post_norm)
                                                        : sum;
}

runtime::Value LayerParts::scaled(Value x, float factor) {
  return factor == 1.0f ? x : builder_.scale(x, factor);
}

}  // namespace rc::model
