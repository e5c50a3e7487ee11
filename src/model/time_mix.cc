#include "model/time_mix.h"

#include <cmath>

#include "base/error.h"
#include "model/limits.h"
#include "model/norm.h"

namespace rc::model {
namespace {

using runtime::kAbsent;
using runtime::Value;

// Of the norms of heads, whatever a file says of others: 1e-5 times the square
// of a divisor, 8, that all models have.
constexpr float kHeadNormEpsilon = 64e-5f;
// Of what makes keys 1 long.
constexpr double kKeyLengthEpsilon = 1e-24;

class TimeMixLayer {
 public:
  TimeMixLayer(const StateLayer& layer, size_t number)
      : layer_(layer),
        builder_(layer.builder),
        weights_(layer.weights),
        names_(layer.architecture.names),
        hyper_(layer.hyper),
        number_(number) {}

  TimeMixed describe(const TimeMixed& before, Value wanted);

 private:
  // The two parts of the mixture that a row becomes.
  struct Rows {
    Value now;
    Value change;  // to the row before
  };
  Rows rows(Value x, const char* norm_name);
  // now + shares * change, by a weight of the layer or by a piece of one.
  Value mixed(const Rows& of, Value shares) {
    return builder_.add(builder_.affine(of.change, shares, kAbsent), of.now);
  }
  Value mixed(const Rows& of, const char* name) {
    return mixed(of, elements(name, {hyper_.width}));
  }
  Value shares(int64_t number, int64_t count) {
    return weights_.piece(layer_.prefix + names_.mix_shares, {hyper_.width},
                          count, number, RC_USE_ELEMENTS);
  }
  Value elements(const std::string& name, const Weights::Shape& shape) {
    return weights_.all_elements(layer_.prefix + name, shape);
  }
  Value product(Value x, const std::string& name, int64_t size,
                Value bias = kAbsent) {
    const Value weight = weights_.matrix(
        layer_.prefix + name, {size, builder_.shape(x).back()}, RC_USE_LINEAR);
    return builder_.linear(x, weight, bias);
  }
  Value large(Value x, const char* stem, int64_t size) {
    return product(x, cat(stem, ".weight"), size);
  }
  // up(function(down(x))) + bias, with the letter of all three names.
  Value low_rank(Value x, char letter, int64_t rank, int function, bool biased);
  Value in_heads(Value x) {
    return builder_.reshape(x, {RC_DIM_ROWS, heads(), size()});
  }
  Value in_rows(Value x) {
    return builder_.reshape(x, {RC_DIM_ROWS, hyper_.width});
  }
  int64_t heads() const { return hyper_.state_space.heads; }
  int64_t size() const { return hyper_.state_space.size; }

  Value time_mix_6(Value x);
  Value time_mix_7(Value x, Value* first_values);
  runtime::ProgramBuilder::Faded faded(
      const runtime::ProgramBuilder::FadingState& state) {
    const Value cache = builder_.cache(
        RC_DTYPE_F32, {layer_.inputs.slot_count, heads(), size(), size()});
    return builder_.fading_state(state, layer_.inputs.sequences,
                                 layer_.inputs.slots, cache);
  }
  // A layer norm of each head by itself.
  Value head_norm(Value x);
  Value channel_mix(const Rows& of);

  const StateLayer& layer_;
  runtime::ProgramBuilder& builder_;
  Weights& weights_;
  const TensorNames& names_;
  const HyperParameters& hyper_;
  const size_t number_;
};

TimeMixed TimeMixLayer::describe(const TimeMixed& before, Value wanted) {
  TimeMixed result = before;
  const bool seventh = layer_.architecture.recurrence.mixer == Mixer::kTimeMix7;
  const Value mix = seventh ? time_mix_7(before.x, &result.first_values)
                            : time_mix_6(before.x);
  Value sum = builder_.linear(
      mix,
      weights_.matrix(layer_.prefix + names_.mix_output + ".weight",
                      {hyper_.width, hyper_.width}, RC_USE_LINEAR),
      kAbsent, before.x);
  Rows of = rows(sum, names_.second_norm);
  if (wanted != kAbsent) {
    of.now = builder_.get_rows(of.now, wanted);
    of.change = builder_.get_rows(of.change, wanted);
    sum = builder_.get_rows(sum, wanted);
  }
  result.x = builder_.add(sum, channel_mix(of));
  const int64_t every = hyper_.time_mix.halved_every;
  if (every > 0 && (static_cast<int64_t>(number_) + 1) % every == 0) {
    result.x = builder_.scale(result.x, 0.5f);
  }
  return result;
}

TimeMixLayer::Rows TimeMixLayer::rows(Value x, const char* norm_name) {
  const Value now = add_norm(builder_, weights_, layer_.architecture,
                             hyper_.norm_epsilon, x, layer_.prefix + norm_name);
  const Value state =
      builder_.cache(RC_DTYPE_F32, {layer_.inputs.slot_count, 1, hyper_.width});
  const Value change =
      builder_.short_conv(now,
                          builder_.weight(kDifferenceWeight, RC_DTYPE_F32,
                                          {hyper_.width, 2}, RC_USE_ELEMENTS),
                          kAbsent, layer_.inputs.sequences, layer_.inputs.slots,
                          state, RC_FUNCTION_NONE);
  return {now, change};
}

Value TimeMixLayer::low_rank(Value x, char letter, int64_t rank, int function,
                             bool biased) {
  const auto name = [&](int number) {
    return cat("time_mix_", letter, number, ".weight");
  };
  Value low = product(x, name(1), rank);
  if (function != RC_FUNCTION_NONE) low = builder_.unary(low, function);
  return product(low, name(2), hyper_.width,
                 biased ? elements(name(0), {hyper_.width}) : kAbsent);
}

Value TimeMixLayer::time_mix_6(Value x) {
  const Rows of = rows(x, names_.attention_norm);
  const int64_t width = hyper_.width;
  const int64_t rank = hyper_.time_mix.shift_rank;
  const Value first = mixed(of, names_.mix_first_share);
  // The uses of the shares of the row before: they depend on the rows.
  enum Part { kDecay, kKey, kValue, kQuery, kGate, kParts };
  constexpr const char* kLetters[] = {"w", "k", "v", "r", "g"};
  const bool fused = weights_.has(layer_.prefix + names_.mix_shares);
  const auto part = [&](Part wanted) {
    const Value low = builder_.unary(
        builder_.linear(
            first, weights_.matrix_rows(layer_.prefix + names_.mix_down,
                                        {kParts * rank, width}, wanted * rank,
                                        rank, RC_USE_LINEAR)),
        RC_FUNCTION_TANH);
    const Value fixed =
        fused ? shares(wanted, kParts)
              : elements(cat("time_mix_lerp_", kLetters[wanted], ".weight"),
                         {width});
    const Value of_row = builder_.linear(
        low,
        weights_.piece(layer_.prefix + names_.mix_up, {width, rank}, kParts,
                       wanted, RC_USE_LINEAR),
        fixed);
    return builder_.add(builder_.multiply(of.change, of_row), of.now);
  };
  runtime::ProgramBuilder::FadingState state = {};
  const Value decay = builder_.unary(
      product(part(kDecay), names_.mix_decay_down, hyper_.time_mix.decay_rank),
      RC_FUNCTION_TANH);
  state.decays = in_heads(product(decay, names_.mix_decay_up, width,
                                  elements(names_.mix_decay, {width})));
  state.k = in_heads(large(part(kKey), names_.mix_key, width));
  state.v = in_heads(large(part(kValue), names_.mix_value, width));
  state.q = in_heads(large(part(kQuery), names_.mix_query, width));
  state.bonus = elements(names_.mix_bonus, {heads(), size()});
  const Value gate = large(part(kGate), names_.mix_gate, width);
  const runtime::ProgramBuilder::Faded y = faded(state);
  return builder_.glu(gate, in_rows(head_norm(builder_.add(y.y, y.own))),
                      RC_FUNCTION_SILU);
}

Value TimeMixLayer::time_mix_7(Value x, Value* first_values) {
  const Rows of = rows(x, names_.attention_norm);
  const int64_t width = hyper_.width;
  const TimeMix& ranks = hyper_.time_mix;
  enum Part { kQuery, kDecay, kKey, kValue, kRate, kGate, kParts };
  const auto part = [&](Part wanted) {
    return mixed(of, shares(wanted, kParts));
  };
  runtime::ProgramBuilder::FadingState state = {};
  state.q = in_heads(large(part(kQuery), names_.mix_query, width));
  state.decays = in_heads(
      low_rank(part(kDecay), 'w', ranks.decay_rank, RC_FUNCTION_TANH, true));
  const Value k = large(part(kKey), names_.mix_key, width);
  const Value of_values = part(kValue);
  Value v = large(of_values, names_.mix_value, width);
  if (number_ == 0) {
    *first_values = v;
  } else {
    const Value share =
        low_rank(of_values, 'v', ranks.value_rank, RC_FUNCTION_NONE, true);
    const Value change = builder_.add(*first_values, builder_.scale(v, -1.0f));
    v = builder_.add(v, builder_.glu(share, change, RC_FUNCTION_SIGMOID));
  }
  state.v = in_heads(v);
  const Value rate = builder_.unary(
      low_rank(part(kRate), 'a', ranks.rate_rank, RC_FUNCTION_NONE, true),
      RC_FUNCTION_SIGMOID);
  const Value gate =
      low_rank(part(kGate), 'g', ranks.gate_rank, RC_FUNCTION_SIGMOID, false);
  // Of length 1: norms give keys a length of the root of their size.
  const auto count = static_cast<double>(size());
  state.a = builder_.scale(
      builder_.plain_norm(
          in_heads(builder_.affine(k, elements("time_mix_k_k.weight", {width}),
                                   kAbsent)),
          static_cast<float>(kKeyLengthEpsilon / count)),
      static_cast<float>(1 / std::sqrt(count)));
  state.b = builder_.scale(builder_.multiply(state.a, in_heads(rate)), -1.0f);
  // k * (1 + (rate - 1) * weight)
  const Value change =
      builder_.add(builder_.multiply(k, rate), builder_.scale(k, -1.0f));
  state.k = in_heads(builder_.add(
      k, builder_.affine(change, elements("time_mix_k_a.weight", {width}),
                         kAbsent)));
  state.bonus = elements("time_mix_r_k.weight", {heads(), size()});
  const runtime::ProgramBuilder::Faded y = faded(state);
  return builder_.multiply(in_rows(builder_.add(head_norm(y.y), y.own)), gate);
}

Value TimeMixLayer::head_norm(Value x) {
  const std::string weight = names_.mix_norm;
  const std::string bias = weight.substr(0, weight.rfind('.')) + ".bias";
  return builder_.affine(
      builder_.layer_norm(x, kAbsent, kAbsent, kHeadNormEpsilon),
      elements(weight, {heads(), size()}), elements(bias, {heads(), size()}));
}

Value TimeMixLayer::channel_mix(const Rows& of) {
  const int64_t inner = hyper_.layers[number_].feed_forward;
  const Value key =
      large(mixed(of, names_.channel_key_share), names_.channel_key, inner);
  // The square of the rectifier.
  const Value y = large(builder_.glu(key, key, RC_FUNCTION_RELU),
                        names_.channel_value, hyper_.width);
  if (layer_.architecture.recurrence.mixer == Mixer::kTimeMix7) return y;
  const Value gate = large(mixed(of, names_.channel_gate_share),
                           names_.channel_gate, hyper_.width);
  return builder_.glu(gate, y, RC_FUNCTION_SIGMOID);
}

}  // namespace

std::vector<float> differences(int64_t width) {
  std::vector<float> weight;
  weight.reserve(static_cast<size_t>(width) * 2);
  for (int64_t i = 0; i < width; ++i) weight.insert(weight.end(), {1, -1});
  return weight;
}

void read_time_mix(const Metadata& metadata, Mixer kind,
                   HyperParameters& hyper) {
  StateSpace& space = hyper.state_space;
  space.size = metadata.get("wkv.head_size", 1, kMaxHeadSize);
  if (hyper.width % space.size != 0) {
    metadata.refuse("wkv.head_size", space.size,
                    cat("must divide the width of ", hyper.width));
  }
  space.heads = hyper.width / space.size;
  if (space.heads > kMaxHeads) {
    metadata.refuse(
        "wkv.head_size", space.size,
        cat("makes ", space.heads, " heads, which are more than ", kMaxHeads));
  }
  space.head_size = space.size;
  space.groups = space.heads;
  space.conv_width = 2;
  // Rows that are shifted, of a mix over time and one of channels.
  metadata.find("token_shift_count", 2, 2);
  const auto rank = [&](const char* name) {
    return metadata.get(name, 1, kMaxWidth);
  };
  TimeMix& mix = hyper.time_mix;
  if (kind == Mixer::kTimeMix6) {
    mix.shift_rank = rank("time_mix_extra_dim");
    mix.decay_rank = rank("time_decay_extra_dim");
    mix.halved_every =
        metadata.find("rescale_every_n_layers", 0, kMaxLayers).value_or(0);
    return;
  }
  mix.decay_rank = rank("attention.decay_lora_rank");
  mix.rate_rank = rank("attention.iclr_lora_rank");
  mix.value_rank = rank("attention.value_residual_mix_lora_rank");
  mix.gate_rank = rank("attention.gate_lora_rank");
}

TimeMixed add_time_mix(const StateLayer& layer, size_t number,
                       const TimeMixed& before, runtime::Value wanted) {
  return TimeMixLayer(layer, number).describe(before, wanted);
}

}  // namespace rc::model
