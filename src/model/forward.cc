#include "model/forward.h"

#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "model/attention.h"
#include "model/embedding.h"
#include "model/feed_forward.h"
#include "model/heads.h"
#include "model/latent_attention.h"
#include "model/layer_parts.h"
#include "model/layer_state.h"
#include "model/norm.h"
#include "model/output.h"
#include "model/rope_weights.h"
#include "model/state_space.h"
#include "model/time_mix.h"
#include "model/weights.h"

namespace rc::model {
namespace {

using runtime::kAbsent;
using runtime::Value;

class Forward : private LayerParts {
 public:
  Forward(const LayerParts& parts, std::span<const float> rope_scales,
          const CacheLayout& layout, const WantedOutput& wanted)
      : LayerParts(parts),
        rope_scales_(rope_scales),
        layout_(layout),
        wanted_(wanted) {}

  void describe();

 private:
  // Of the residual [rows, width]. The last layer goes on with the output rows
  // alone once all keys and values are stored.
  Value whole_layer(Value x);
  // What a mixer gives, and the product that leads back to the width, which is
  // not yet taken.
  struct Mixed {
    Value y;
    const char* back;
    Presence bias = Presence::kNever;
  };
  // Of what is normed.
  std::vector<Mixed> mixed(Value x);
  StateLayer state_layer() {
    return {builder_, weights_,     architecture_,
            hyper_,   in_layer(""), {sequences_, state_slots_, layout_.slots}};
  }
  Value attention(Value x);
  Value latent_attention(Value x);
  Value output(Value x);
  Value logits(Value x);

  // [rows, count * key_size]; `first` is the number of the first head among
  // those of a fused matrix.
  Value projection(Value x, const char* name, int64_t first, int64_t count);
  // The same of queries, or of their gates, where one matrix has both.
  Value query_pieces(Value x, int64_t first);
  Value rope(Value x);
  const std::span<const float> rope_scales_;
  const CacheLayout& layout_;
  const WantedOutput& wanted_;
  Value positions_ = kAbsent;
  Value sequences_ = kAbsent;
  Value page_table_ = kAbsent;
  Value state_slots_ = kAbsent;
  Value lengths_ = kAbsent;
  Value window_table_ = kAbsent;  // the page table of layers with a window
  Value head_numbers_ = kAbsent;
  Value output_rows_ = kAbsent;
  std::vector<Value> frequencies_;  // by number in HyperParameters::ropes
};

void Forward::describe() {
  const Value tokens = builder_.input(RC_DTYPE_I32, {RC_DIM_ROWS});
  positions_ = builder_.input(RC_DTYPE_I32, {RC_DIM_ROWS});
  sequences_ = builder_.input(RC_DTYPE_I32, {RC_DIM_ROWS});
  page_table_ = builder_.input(RC_DTYPE_I32,
                               {RC_DIM_SEQUENCES, layout_.pages_per_sequence});
  output_rows_ = builder_.input(RC_DTYPE_I32, {RC_DIM_OUTPUTS});
  if (slot_bytes(hyper_) > 0) {
    state_slots_ = builder_.input(RC_DTYPE_I32, {RC_DIM_SEQUENCES, 2});
  }
  if (!architecture_.causal) {
    lengths_ = builder_.input(RC_DTYPE_I32, {RC_DIM_SEQUENCES});
  }
  if (layout_.window_pages > 0) {
    window_table_ = builder_.input(
        RC_DTYPE_I32, {RC_DIM_SEQUENCES, layout_.pages_per_sequence});
  }
  if (architecture_.latent) {
    head_numbers_ =
        builder_.input(RC_DTYPE_I32, {RC_DIM_ROWS, hyper_.layers[0].heads});
  }
  for (size_t i = 0; i < hyper_.ropes.size(); ++i) {
    frequencies_.push_back(builder_.weight(
        rope_weight_name(file_, architecture_, hyper_, layout_, i),
        RC_DTYPE_F32, {hyper_.ropes[i].dimensions / 2}, RC_USE_ELEMENTS));
  }

  const Value learned = wanted_.output == ForwardOutput::kScores &&
                                type_count(file_, architecture_) > 1
                            ? builder_.input(RC_DTYPE_I32, {RC_DIM_ROWS})
                            : positions_;
  Value x =
      add_embedding(builder_, weights_, architecture_, hyper_, tokens, learned);
  TimeMixed mixed = {x, kAbsent};
  for (number_ = 0; number_ < hyper_.layers.size(); ++number_) {
    builder_.begin_part(cat("blk.", number_));
    if (mixes_time(layer().mixer)) {
      mixed = add_time_mix(state_layer(), number_, mixed,
                           is_last() ? output_rows_ : kAbsent);
      x = mixed.x;
    } else {
      x = whole_layer(x);
    }
  }
  builder_.begin_part("output");
  builder_.output(output(x));
}

Value Forward::whole_layer(Value x) {
  const bool parallel = hyper_.parallel_residual;
  const char* const mixer_norm =
      parallel && !weights_.has(in_layer(names_.attention_norm))
          ? names_.feed_forward_norm
          : names_.attention_norm;
  Value normed = number_ == 0 && architecture_.first_unnormed
                     ? x
                     : norm_before(x, mixer_norm);
  std::vector<Mixed> parts = mixed(normed);
  if (is_last()) {
    for (Mixed& part : parts) part.y = builder_.get_rows(part.y, output_rows_);
    x = builder_.get_rows(x, output_rows_);
  }
  Value sum = x;
  for (const Mixed& part : parts) {
    sum = joined(part.y, part.back, part.bias, names_.post_attention_norm, sum);
  }
  if (!layer().experts && layer().feed_forward == 0) return sum;
  if (architecture_.single_parts)
    return add_feed_forward(*this, norm(x, mixer_norm), sum);
  if (!parallel) {
    normed = norm_before(sum, names_.feed_forward_norm);
  } else if (std::string_view(mixer_norm) != names_.feed_forward_norm &&
             weights_.has(in_layer(names_.feed_forward_norm))) {
    normed = norm(x, names_.feed_forward_norm);
  } else if (is_last()) {
    normed = builder_.get_rows(normed, output_rows_);
  }
  return add_feed_forward(*this, normed, sum);
}

std::vector<Forward::Mixed> Forward::mixed(Value x) {
  std::vector<Mixed> parts;
  if (layer().attends()) {
    parts.push_back({attention(x), names_.attention_output,
                     architecture_.attention_output_bias});
  }
  if (const auto recurrent = add_recurrent(state_layer(), layer().mixer, x)) {
    parts.push_back({recurrent->y, recurrent->back});
  }
  return parts;
}

Value Forward::attention(Value x) {
  if (architecture_.latent) return latent_attention(x);
  const int64_t heads = layer().heads;
  const int64_t kv_heads = layer().kv_heads;
  const HeadNorm head_norm = architecture_.optional_head_norm &&
                                     !weights_.has(in_layer(names_.query_norm))
                                 ? HeadNorm::kNone
                                 : architecture_.head_norm;
  Value q = architecture_.gated_attention
                ? query_pieces(x, 0)
                : projection(x, names_.query, 0, heads);
  Value k = projection(x, names_.key, heads, kv_heads);
  Value v = projection(x, names_.value, heads + kv_heads, kv_heads);
  if (hyper_.clamp > 0.0f) {
    for (Value* one : {&q, &k, &v}) *one = builder_.clamp(*one, hyper_.clamp);
  }
  if (head_norm == HeadNorm::kTogether) {
    q = norm(q, names_.query_norm);
    k = norm(k, names_.key_norm);
  }
  if (hyper_.position_scale != 0.0f) {
    q = add_position_scale(builder_, hyper_, positions_, q);
  }
  q = builder_.reshape(q, {RC_DIM_ROWS, heads, hyper_.key_size});
  k = builder_.reshape(k, {RC_DIM_ROWS, kv_heads, hyper_.key_size});
  v = builder_.reshape(v, {RC_DIM_ROWS, kv_heads, hyper_.key_size});
  if (head_norm == HeadNorm::kEach || head_norm == HeadNorm::kEachItsOwn) {
    q = norm(q, names_.query_norm);
    k = norm(k, names_.key_norm);
  }
  if (layer().rope != Layer::kUnrotated) {
    q = rope(q);
    k = rope(k);
  }
  if (head_norm == HeadNorm::kUnweighted && layer().rope != Layer::kUnrotated &&
      !architecture_.without_head_norm(hyper_.experts)) {
    q = add_unweighted_norm(builder_, q, hyper_.norm_epsilon);
    k = add_unweighted_norm(builder_, k, hyper_.norm_epsilon);
  }
  if (head_norm == HeadNorm::kRotated) {
    q = norm(q, names_.query_norm);
    k = norm(k, names_.key_norm);
  }

  const bool apart = layer().window > 0 && layout_.window_pages > 0;
  const Value table = apart ? window_table_ : page_table_;
  const runtime::ProgramBuilder::Shape shape = {
      apart ? layout_.window_pages : layout_.pages, kv_heads, layout_.page_size,
      hyper_.key_size};
  const Value keys = builder_.cache(layout_.dtype, shape);
  const Value values = builder_.cache(layout_.dtype, shape);
  builder_.cache_store(k, positions_, sequences_, table, keys);
  builder_.cache_store(v, positions_, sequences_, table, values);
  runtime::ProgramBuilder::GeneralAttention how = {};
  how.q = q;
  how.key_cache = keys;
  how.value_cache = values;
  how.positions = positions_;
  how.sequences = sequences_;
  how.page_table = table;
  how.lengths = lengths_;
  const Value y = add_attention(builder_, weights_, architecture_, hyper_,
                                layer(), in_layer(""), how);
  const Value rows =
      builder_.reshape(y, {RC_DIM_ROWS, heads * hyper_.key_size});
  return architecture_.gated_attention
             ? builder_.glu(query_pieces(x, hyper_.key_size), rows,
                            RC_FUNCTION_SIGMOID)
             : rows;
}

Value Forward::latent_attention(Value x) {
  const auto rope = static_cast<size_t>(layer().rope);
  const Value cache = builder_.cache(
      layout_.dtype, {layout_.pages, 1, layout_.page_size, hyper_.key_size});
  return add_latent_attention(
      builder_, weights_, architecture_, hyper_, in_layer(""), layer().heads, x,
      cache,
      {positions_, sequences_, page_table_, head_numbers_, frequencies_[rope],
       rope_scales_[rope]});
}

Value Forward::query_pieces(Value x, int64_t first) {
  const int64_t size = hyper_.key_size;
  return builder_.linear(
      x, weights_.rows_of_heads(
             in_layer(cat(names_.query, ".weight")),
             {2 * layer().heads * size, builder_.shape(x).back()},
             {first, size, 2 * size}, RC_USE_LINEAR));
}

Value Forward::output(Value x) {
  if (!architecture_.gives_hidden_rows || architecture_.normed_hidden_rows) {
    x = add_norm(builder_, weights_, architecture_, hyper_.norm_epsilon, x,
                 names_.output_norm);
  }
  switch (wanted_.output) {
    case ForwardOutput::kLogits:
      return logits(x);
    case ForwardOutput::kHiddenRows:
      return x;
    case ForwardOutput::kScores:
      break;
  }
  return has_classifier(file_) ? add_classifier(builder_, weights_, hyper_, x)
                               : add_comparison(builder_, weights_, names_,
                                                hyper_, wanted_.tokens, x);
}

Value Forward::logits(Value x) {
  // A file without an output matrix uses the embedding table twice.
  const char* name =
      weights_.has(names_.output) ? names_.output : names_.token_embedding;
  const Presence bias = architecture_.output_bias;
  const bool biased =
      bias == Presence::kAlways ||
      (bias == Presence::kOptional && weights_.has(names_.output_bias));
  x = builder_.linear(
      x,
      weights_.matrix(name, {hyper_.vocabulary, hyper_.width}, RC_USE_LINEAR),
      biased ? weights_.elements(names_.output_bias, {hyper_.vocabulary})
             : kAbsent);
  x = scaled(x, hyper_.logit_factor);
  return hyper_.final_softcap > 0.0f ? builder_.softcap(x, hyper_.final_softcap)
                                     : x;
}

Value Forward::projection(Value x, const char* name, int64_t first,
                          int64_t count) {
  const int64_t size = hyper_.key_size;
  const Presence bias = architecture_.qkv_bias;
  const Presence fused = architecture_.fused_attention;
  if (fused == Presence::kNever ||
      (fused == Presence::kOptional &&
       !weights_.has(in_layer(cat(names_.fused_attention, ".weight"))))) {
    return linear(x, name, count * size, bias);
  }
  const int64_t all = layer().heads + 2 * layer().kv_heads;
  return linear_rows(x, names_.fused_attention, all * size, first * size,
                     count * size, bias);
}

Value Forward::rope(Value x) {
  const auto number = static_cast<size_t>(layer().rope);
  return builder_.rope(x, positions_, frequencies_[number],
                       architecture_.rope_style, rope_scales_[number]);
}

}  // namespace

runtime::ProgramDescription forward_program(const Architecture& architecture,
                                            const HyperParameters& hyper,
                                            std::span<const float> rope_scales,
                                            const gguf::File& file,
                                            const CacheLayout& layout,
                                            const WantedOutput& wanted) {
  runtime::ProgramBuilder builder("embedding");
  Weights weights(file, builder);
  Forward(LayerParts(file, architecture, hyper, builder, weights), rope_scales,
          layout, wanted)
      .describe();
  return std::move(builder).take();
}

}  // namespace rc::model
