#include "model/forward.h"

#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "model/alternating.h"
#include "model/attention.h"
#include "model/embedding.h"
#include "model/feed_forward.h"
#include "model/heads.h"
#include "model/latent_attention.h"
#include "model/layer_parts.h"
#include "model/layer_state.h"
#include "model/norm.h"
#include "model/output.h"
#include "model/per_layer.h"
#include "model/program_inputs.h"
#include "model/rope_weights.h"
#include "model/rotation.h"
#include "model/source.h"
#include "model/state_space.h"
#include "model/time_mix.h"
#include "model/weights.h"

namespace rc::model {
namespace {

using runtime::kAbsent;
using runtime::Value;
using enum ForwardInput;

class Forward : private LayerParts {
 public:
  Forward(const LayerParts& parts, std::span<const float> rope_scales,
          const CacheLayout& layout, const WantedOutput& wanted,
          const ProgramInputs& inputs)
      : LayerParts(parts),
        rope_scales_(rope_scales),
        layout_(layout),
        wanted_(wanted),
        inputs_(inputs) {}

  void describe();
  // The stage in which the source of a model is read whose other stage has been
  // described.
  void read_source(const Forward& other);

 private:
  // Return the value of an input that the stage has, or those of all layers.
  Value input(ForwardInput which) const { return copies(which)[0]; }
  std::span<const Value> copies(ForwardInput which) const;
  // Returns kAbsent in a model without states.
  Value state_slots() const {
    return inputs_.has(kStateSlots) ? input(kStateSlots) : kAbsent;
  }
  // Returns whether the layer has pages of windows.
  bool apart() const { return layer().window > 0 && layout_.window_pages > 0; }
  Value table_of_layer() const {
    return apart() ? input(kWindowTable) : table_;
  }
  SourceInputs source_inputs(ForwardInput lengths) const {
    return {input(kPositions), input(kSequences), input(kSourceTable),
            input(lengths)};
  }
  StreamValues layers(Value x);
  // Of the residual [rows, width]. The last layer goes on with the output rows
  // alone once all keys and values are stored.
  Value whole_layer(Value x);
  // Of a layer that computes one of several streams.
  StreamValues whole_layer(const StreamValues& streams);
  // The result of a mixer, and the product that leads back to the width, which
  // is not yet taken.
  struct Mixed {
    Value y;
    const char* back;
    Presence bias = Presence::kNever;
  };
  // Of what is normed.
  std::vector<Mixed> mixed(Value x);
  StateLayer state_layer() {
    return {builder_,      weights_,
            architecture_, hyper_,
            in_layer(""),  {input(kSequences), state_slots(), layout_.slots}};
  }
  Value attention(Value x);
  Value latent_attention(Value x);
  Value output(Value x);

  // Keys and values that attention reads, which a layer may share.
  LayerCaches stored(Value x, HeadNorm head_norm, Value table);
  LayerCaches new_caches();
  // Queries or keys [rows, heads, key_size], normed and rotated.
  Value turned(Value x, const char* norm_name, HeadNorm head_norm);
  // Of the layer.
  Rotation rotation() const;
  // Whether the layer goes on with the output rows alone.
  bool narrows() const { return is_last() && output_rows_ != kAbsent; }
  const std::span<const float> rope_scales_;
  const CacheLayout& layout_;
  const WantedOutput& wanted_;
  const ProgramInputs& inputs_;
  std::vector<Value> values_;  // of the inputs, by number
  ForwardStage stage_ = kGenerate;
  Value table_ = kAbsent;             // of pages that the stage stores in
  Value output_rows_ = kAbsent;       // those of all rows if it has no outputs
  Value long_frequencies_ = kAbsent;  // see Rotation
  std::vector<Value> frequencies_;    // by number in HyperParameters::ropes
  std::vector<Value> inputs_of_layers_;  // see per_layer.h
  LayerCaches given_caches_;             // of all layers, if there are such
  std::vector<LayerCaches> caches_;      // by number of the layer
};

std::span<const Value> Forward::copies(ForwardInput which) const {
  const ProgramInput* const there = inputs_.find(which);
  if (there == nullptr || !there->used_in(stage_)) {
    fail(RC_E_INTERNAL, file_.name(), ": the forward pass uses the input \"",
         description_of(which).name,
         "\", which its rule in kForwardInputs leaves out");
  }
  return std::span(values_).subspan(there->first, there->copies);
}

void Forward::describe() {
  values_ = inputs_.declare(builder_);
  table_ = input(kPageTable);
  output_rows_ = input(kOutputRows);
  for (size_t i = 0; i < hyper_.ropes.size(); ++i) {
    frequencies_.push_back(builder_.weight(rope_weight_name(i), RC_DTYPE_F32,
                                           {hyper_.ropes[i].dimensions / 2},
                                           RC_USE_ELEMENTS));
  }

  if (inputs_.has(kLonger)) {
    long_frequencies_ =
        builder_.weight(kLongRopeWeight, RC_DTYPE_F32,
                        {hyper_.ropes[0].dimensions / 2}, RC_USE_ELEMENTS);
  }
  const Value positions =
      input(inputs_.has(kTypedPositions) ? kTypedPositions : kPositions);
  GivenRows given;
  if (inputs_.has(kEmbeddingRows)) {
    given = {input(kEmbeddingRows), input(kRowChoice)};
  }
  const Value x = add_embedding(builder_, weights_, architecture_, hyper_,
                                input(kTokens), positions, given);
  if (inputs_.has(kLayerRows)) {
    inputs_of_layers_ = add_per_layer_inputs(*this, copies(kLayerRows), x);
  }
  const StreamValues streams = layers(x);
  builder_.begin_part("output");
  builder_.output(output(architecture_.residual.streams
                             ? add_mean_stream(*this, streams)
                             : streams[0]));
}

StreamValues Forward::layers(Value x) {
  caches_.resize(hyper_.layers.size());
  StreamValues streams =
      architecture_.residual.streams ? add_streams(*this, x) : StreamValues{x};
  Value first_values = kAbsent;  // see TimeMixed
  for (number_ = 0; number_ < hyper_.layers.size(); ++number_) {
    builder_.begin_part(cat(names_.layer, number_));
    if (!inputs_of_layers_.empty() && is_last()) {
      inputs_of_layers_.back() =
          builder_.get_rows(inputs_of_layers_.back(), output_rows_);
    }
    if (mixes_time(layer().mixer)) {
      const TimeMixed mixed =
          add_time_mix(state_layer(), number_, {streams[0], first_values},
                       is_last() ? output_rows_ : kAbsent);
      streams = StreamValues{mixed.x};
      first_values = mixed.first_values;
    } else if (architecture_.residual.streams) {
      streams = whole_layer(streams);
    } else {
      streams = StreamValues{whole_layer(streams[0])};
    }
  }
  return streams;
}

void Forward::read_source(const Forward& other) {
  builder_.begin_stage();
  builder_.begin_part("source embedding");
  values_ = other.values_;
  stage_ = kReadSource;
  table_ = input(kSourceTable);
  given_caches_ = other.caches_[0];
  const Value x = add_embedding(builder_, weights_, architecture_, hyper_,
                                input(kTokens), input(kPositions));
  const Value rows =
      add_norm(builder_, weights_, architecture_, hyper_.norm_epsilon,
               layers(x)[0], names_.output_norm);
  Forward of(other);
  const SourceInputs inputs = source_inputs(kLengths);
  for (of.number_ = 0; of.number_ < of.caches_.size(); ++of.number_) {
    builder_.begin_part(cat("source of ", of.number_));
    add_source_store(of, rows, of.caches_[of.number_], inputs);
  }
}

StreamValues Forward::whole_layer(const StreamValues& streams) {
  StreamValues predictions = add_predictions(*this, streams);
  const Value computed =
      whole_layer(predictions[static_cast<size_t>(hyper_.streams.active)]);
  if (is_last()) {
    for (Value& one : predictions) one = builder_.get_rows(one, output_rows_);
  }
  return add_corrections(*this, predictions, computed,
                         inputs_of_layers_[number_]);
}

Value Forward::whole_layer(Value x) {
  const bool parallel = hyper_.parallel_residual;
  const char* const mixer_norm =
      parallel && !weights_.has(in_layer(names_.attention_norm))
          ? names_.feed_forward_norm
          : names_.attention_norm;
  Value normed = number_ == 0 && architecture_.norm.first_layer_unnormed
                     ? x
                     : norm_before(x, mixer_norm);
  std::vector<Mixed> parts = mixed(normed);
  const bool carries_normed = architecture_.residual.normed;
  if (carries_normed) x = scaled(normed, hyper_.carried_scale);
  Value low_rank =
      architecture_.residual.low_rank ? add_low_rank(*this, normed) : kAbsent;
  const bool attends_to_source = architecture_.source != nullptr;
  if (narrows() && !attends_to_source) {
    if (low_rank != kAbsent) {
      low_rank = builder_.get_rows(low_rank, output_rows_);
    }
    for (Mixed& part : parts) part.y = builder_.get_rows(part.y, output_rows_);
    x = builder_.get_rows(x, output_rows_);
  }
  Value sum = x;
  for (const Mixed& part : parts) {
    sum = joined(part.y, part.back, part.bias, names_.post_attention_norm, sum);
  }
  if (low_rank != kAbsent) {
    sum = builder_.scale(builder_.add(sum, low_rank), std::sqrt(0.5f));
  }
  if (attends_to_source) {
    sum = add_source_attention(*this, sum, caches_[number_],
                               source_inputs(kSourceLengths),
                               narrows() ? output_rows_ : kAbsent);
  }
  if (!layer().experts && layer().feed_forward == 0) return sum;
  if (architecture_.residual.single_parts) {
    return add_feed_forward(*this, norm(x, mixer_norm), sum);
  }
  if (!parallel) {
    normed = norm_before(sum, names_.feed_forward_norm);
    if (carries_normed) sum = scaled(normed, hyper_.carried_scale);
  } else if (std::string_view(mixer_norm) != names_.feed_forward_norm &&
             weights_.has(in_layer(names_.feed_forward_norm))) {
    normed = norm(x, names_.feed_forward_norm);
  } else if (is_last()) {
    normed = builder_.get_rows(normed, output_rows_);
  }
  sum = add_feed_forward(*this, normed, sum);
  if (!inputs_of_layers_.empty() && !architecture_.residual.streams) {
    sum = builder_.add(
        sum, add_per_layer_part(*this, sum, inputs_of_layers_[number_]));
  }
  return scaled(sum, layer().scale);
}

std::vector<Forward::Mixed> Forward::mixed(Value x) {
  std::vector<Mixed> parts;
  if (layer().attends()) {
    parts.push_back({attention(x), names_.attention_output,
                     architecture_.attention.output_bias});
  }
  if (const auto recurrent = add_recurrent(state_layer(), layer().mixer, x)) {
    parts.push_back({recurrent->y, recurrent->back});
  }
  return parts;
}

Value Forward::attention(Value x) {
  if (architecture_.latent.present) return latent_attention(x);
  const int64_t heads = layer().heads;
  const int64_t size = layer().key_size;
  const HeadNorm head_norm = architecture_.attention.optional_head_norm &&
                                     !weights_.has(in_layer(names_.query_norm))
                                 ? HeadNorm::kNone
                                 : architecture_.attention.head_norm;
  const bool with_gates =
      architecture_.attention.gate == AttentionGate::kWithQueries;
  Value q = with_gates ? query_pieces(x, 0)
                       : projection(x, names_.query, 0, heads * size);
  if (hyper_.clamp > 0.0f) q = builder_.clamp(q, hyper_.clamp);
  if (head_norm == HeadNorm::kTogether) q = norm(q, names_.query_norm);
  if (hyper_.position_scale != 0.0f) {
    q = add_position_scale(builder_, hyper_, input(kPositionSteps), q);
  }
  q = turned(builder_.reshape(q, {RC_DIM_ROWS, heads, size}), names_.query_norm,
             head_norm);

  const Value table = table_of_layer();
  const LayerCaches caches = layer().source >= 0
                                 ? caches_[static_cast<size_t>(layer().source)]
                                 : stored(x, head_norm, table);
  caches_[number_] = caches;
  runtime::ProgramBuilder::GeneralAttention how = {};
  how.q = q;
  how.key_cache = caches.keys;
  how.value_cache = caches.values;
  how.positions = input(kPositions);
  how.sequences = input(kSequences);
  how.page_table = table;
  if (!architecture_.attention.causal) how.lengths = input(kLengths);
  const Value y = add_attention(builder_, weights_, architecture_, hyper_,
                                layer(), in_layer(""), how);
  const int64_t given = heads * layer().value_size;
  const Value rows =
      scaled(builder_.reshape(y, {RC_DIM_ROWS, given}), hyper_.value_scale);
  if (architecture_.norm.inner) return norm(rows, names_.attention_inner_norm);
  return gated_heads(x, rows);
}

LayerCaches Forward::stored(Value x, HeadNorm head_norm, Value table) {
  const int64_t heads = layer().heads;
  const int64_t kv_heads = layer().kv_heads;
  const int64_t size = layer().key_size;
  const int64_t value_size = layer().value_size;
  Value k = projection(x, names_.key, heads * size, kv_heads * size);
  Value v = architecture_.attention.keys_for_values &&
                    !weights_.has(in_layer(cat(names_.value, ".weight")))
                ? k
                : projection(x, names_.value, (heads + kv_heads) * size,
                             kv_heads * value_size);
  if (hyper_.clamp > 0.0f) {
    for (Value* one : {&k, &v}) *one = builder_.clamp(*one, hyper_.clamp);
  }
  if (head_norm == HeadNorm::kTogether) k = norm(k, names_.key_norm);
  const runtime::ProgramBuilder::Shape of_heads = {RC_DIM_ROWS, kv_heads, size};
  k = turned(builder_.reshape(k, of_heads), names_.key_norm, head_norm);
  v = builder_.reshape(v, {RC_DIM_ROWS, kv_heads, value_size});
  if (architecture_.attention.normed_values) {
    v = builder_.plain_norm(v, hyper_.norm_epsilon);
  }
  const LayerCaches caches =
      given_caches_.keys != kAbsent ? given_caches_ : new_caches();
  builder_.cache_store(k, input(kPositions), input(kSequences), table,
                       caches.keys);
  builder_.cache_store(v, input(kPositions), input(kSequences), table,
                       caches.values);
  return caches;
}

LayerCaches Forward::new_caches() {
  const auto cache = [&](int64_t size) {
    return builder_.cache(layout_.dtype,
                          {apart() ? layout_.window_pages : layout_.pages,
                           layer().kv_heads, layout_.page_size, size});
  };
  const Value keys = cache(layer().key_size);
  return {keys, cache(layer().value_size)};
}

Value Forward::turned(Value x, const char* norm_name, HeadNorm head_norm) {
  if (head_norm == HeadNorm::kEach || head_norm == HeadNorm::kEachItsOwn) {
    x = norm(x, norm_name);
  }
  const bool rotates = layer().rope != Layer::kUnrotated;
  if (rotates) x = add_rotation(builder_, rotation(), x);
  if (head_norm == HeadNorm::kUnweighted && rotates && hyper_.head_norms) {
    x = add_unweighted_norm(builder_, x, hyper_.norm_epsilon);
  }
  return head_norm == HeadNorm::kRotated ? norm(x, norm_name) : x;
}

Value Forward::latent_attention(Value x) {
  const bool other = &latent_of(hyper_, layer()) == &hyper_.window_latent;
  const Value cache = builder_.cache(
      layout_.dtype, {apart() ? layout_.window_pages : layout_.pages, 1,
                      layout_.page_size, layer().key_size});
  const Value y = add_latent_attention(
      builder_, weights_, architecture_, hyper_, in_layer(""), layer(), x,
      cache,
      {input(kPositions), input(kSequences), table_of_layer(),
       input(other ? kWindowHeadNumbers : kHeadNumbers),
       layer().rope == Layer::kUnrotated ? Rotation{} : rotation()});
  return gated_heads(x, y);
}

Value Forward::output(Value x) {
  if (!architecture_.output.hidden_rows ||
      architecture_.output.normed_hidden_rows) {
    x = add_norm(builder_, weights_, architecture_, hyper_.norm_epsilon, x,
                 names_.output_norm);
  }
  switch (wanted_.output) {
    case ForwardOutput::kLogits:
      return add_logits(builder_, weights_, architecture_, hyper_, x);
    case ForwardOutput::kHiddenRows:
      return x;
    case ForwardOutput::kScores:
      break;
  }
  return has_classifier(file_) ? add_classifier(builder_, weights_, hyper_, x)
                               : add_comparison(builder_, weights_, names_,
                                                hyper_, wanted_.tokens, x);
}

Rotation Forward::rotation() const {
  const auto number = static_cast<size_t>(layer().rope);
  Rotation rotation = {input(kPositions), frequencies_[number],
                       rope_scales_[number], architecture_.rotary.style};
  if (number == 0) {
    rotation.long_frequencies = long_frequencies_;
    if (inputs_.has(kLonger)) rotation.longer = input(kLonger);
  }
  return rotation;
}

}  // namespace

runtime::ProgramDescription forward_program(
    const Architecture& architecture, const HyperParameters& hyper,
    std::span<const float> rope_scales, const HyperParameters* source,
    const gguf::File& file, const CacheLayout& layout,
    const WantedOutput& wanted, const ProgramInputs& inputs,
    MissingTensors* missing) {
  runtime::ProgramBuilder builder("embedding");
  Weights weights(file, builder, missing);
  Forward forward(LayerParts(file, architecture, hyper, builder, weights),
                  rope_scales, layout, wanted, inputs);
  forward.describe();
  if (source != nullptr) {
    Forward(LayerParts(file, *architecture.source, *source, builder, weights),
            {}, layout, wanted, inputs)
        .read_source(forward);
  }
  return std::move(builder).take();
}

}  // namespace rc::model
