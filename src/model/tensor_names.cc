#include "model/tensor_names.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/error.h"

namespace rc::model {
namespace {

class Names {
 public:
  explicit Names(const Architecture& architecture)
      : architecture_(architecture), names_(architecture.names) {}

  std::vector<ReadTensor> all() && {
    if (architecture_.source != nullptr) {
      tensors_ = tensors_of(*architecture_.source);
    }
    whole_model();
    prefix_ = stem_of(cat(names_.layer, "0."));
    if (!architecture_.recurrence.only) {
      attention();
      feed_forward();
      behind();
    }
    recurrent();
    return std::move(tensors_);
  }

 private:
  void add(const char* name, bool always = true) {
    const std::string stem = cat(prefix_, stem_of(name));
    for (ReadTensor& tensor : tensors_) {
      if (tensor.stem != stem) continue;
      tensor.always = tensor.always || always;
      return;
    }
    tensors_.push_back({stem, always});
  }

  void add(const char* name, Presence presence) {
    if (presence != Presence::kNever) add(name, presence == Presence::kAlways);
  }

  void add_norm(const char* name, bool always = true) {
    if (architecture_.norm.kind != Norm::kLayerPlain) add(name, always);
  }

  bool gate_apart() const {
    return architecture_.attention.gate != AttentionGate::kNone &&
           architecture_.attention.gate != AttentionGate::kWithQueries;
  }

  bool has_norms_before() const {
    return architecture_.norm.place == NormPlace::kBefore ||
           architecture_.norm.place == NormPlace::kAround;
  }

  void whole_model() {
    add(names_.token_embedding);
    add(names_.rope_factors, architecture_.rotary.factors);
    if (architecture_.rotary.long_factors) {
      add(names_.short_rope_factors, false);
      add(names_.long_rope_factors, false);
    }
    if (architecture_.embedding.learned_positions) {
      add(names_.position_embedding);
    }
    add(names_.token_types, architecture_.embedding.token_types);
    const Presence per_layer = architecture_.residual.per_layer_inputs;
    for (const char* name :
         {names_.per_layer_embedding, names_.per_layer_projection,
          names_.per_layer_norm}) {
      add(name, per_layer);
    }
    if (architecture_.residual.streams) {
      add_all({names_.stream_projections, names_.stream_returns});
    }
    if (architecture_.embedding.norm) add_norm(names_.embedding_norm);
    if (architecture_.output.hidden_rows) {
      if (architecture_.output.normed_hidden_rows) add_norm(names_.output_norm);
      return;
    }
    add_norm(names_.output_norm);
    add(names_.output, architecture_.output.bias == Presence::kAlways);
  }

  void attention() {
    const bool own_norms = architecture_.residual.parallel == Presence::kNever;
    if (has_norms_before()) add_norm(names_.attention_norm, own_norms);
    const Presence fused = architecture_.attention.fused;
    add(names_.fused_attention, fused);
    if (architecture_.latent.indexed) {
      for (const char* name : {names_.index_query, names_.index_key,
                               names_.index_key_norm, names_.index_weights}) {
        add(name, false);
      }
    }
    if (architecture_.latent.present) {
      latent();
    } else if (fused != Presence::kAlways) {
      for (const char* name : {names_.query, names_.key}) {
        add(name, fused == Presence::kNever);
      }
      add(names_.value, fused == Presence::kNever &&
                            !architecture_.attention.keys_for_values);
    }
    if (architecture_.attention.head_norm != HeadNorm::kNone &&
        architecture_.attention.head_norm != HeadNorm::kUnweighted) {
      add(names_.query_norm, !architecture_.attention.optional_head_norm);
      add(names_.key_norm, !architecture_.attention.optional_head_norm);
    }
    add(names_.attention_sinks, architecture_.attention.sinks);
    if (gate_apart()) add(names_.attention_gate);
    if (architecture_.position.relative_bias) add(names_.relative_bias);
    if (architecture_.source != nullptr) {
      add_all({names_.source_norm, names_.source_query, names_.source_key,
               names_.source_value, names_.source_output});
    }
    if (architecture_.residual.low_rank) {
      add_all({names_.low_rank_down, names_.low_rank_up, names_.low_rank_norm});
    }
    if (architecture_.norm.inner) add_norm(names_.attention_inner_norm);
    add(names_.attention_output);
    if (architecture_.norm.place == NormPlace::kBefore) return;
    add_norm(names_.post_attention_norm);
  }

  void latent() {
    if (architecture_.latent.joint) {
      return add_all({names_.query_down, names_.query_down_norm,
                      names_.query_up, names_.kv_down, names_.kv_down_norm,
                      names_.kv_up});
    }
    // All files of models with several kinds of heads have the short vector.
    if (!architecture_.latent.separate_for_windows) add(names_.query, false);
    for (const char* name : {names_.query_down, names_.query_down_norm,
                             names_.query_up, names_.key_up, names_.value_up}) {
      add(name, architecture_.latent.separate_for_windows);
    }
    if (architecture_.latent.normed_keys) add(names_.key_norm);
    // No file of a model with an indexer is that old.
    if (!architecture_.latent.indexed) add(names_.kv_up, false);
    add(names_.kv_down);
    add(names_.kv_down_norm);
  }

  void feed_forward() {
    const bool own_norms = architecture_.residual.parallel == Presence::kNever;
    if (has_norms_before() && !architecture_.residual.single_parts) {
      add_norm(names_.feed_forward_norm, own_norms);
    }
    // The first layers may be dense.
    if (architecture_.experts.presence != Presence::kAlways ||
        ((architecture_.experts.selection_bias ||
          architecture_.experts.dense_first) &&
         !architecture_.experts.all_layers) ||
        architecture_.experts.weighted_inputs) {
      const bool dense = architecture_.experts.presence == Presence::kNever ||
                         architecture_.experts.beside_dense;
      const Gate& gate = architecture_.feed_forward.gate;
      if (!gate.ungated && (!gate.fused || gate.fused_or_apart)) {
        add(names_.gate, dense && !gate.fused && !gate.optional);
      }
      add(names_.up, dense);
      add(names_.down, dense);
    }
    for (const char* name : {names_.router, names_.expert_gate,
                             names_.expert_up, names_.expert_down}) {
      // Files have the gate and the other product of experts in one tensor
      // where there is a dense part too.
      const bool gate = name == names_.expert_gate;
      if ((gate && architecture_.feed_forward.gate.ungated) ||
          (architecture_.experts.beside_dense &&
           (gate || name == names_.expert_up))) {
        continue;
      }
      add(name, architecture_.experts.presence);
    }
    // Files may have both in one tensor elsewhere, too.
    if (architecture_.experts.presence != Presence::kNever &&
        !architecture_.feed_forward.gate.ungated) {
      add(names_.expert_gate_up, false);
    }
    if (architecture_.experts.beside_dense) {
      for (const char* name :
           {names_.router_scale, names_.expert_norm, names_.post_dense_norm,
            names_.post_expert_norm, names_.expert_scales}) {
        add(name, false);
      }
    }
    // Empty where experts are chosen by their scores alone.
    if (architecture_.experts.selection_bias &&
        *names_.selection_bias != '\0') {
      add(names_.selection_bias, !architecture_.experts.grouped);
    }
    if (architecture_.experts.latent) {
      add(names_.expert_latent_down, false);
      add(names_.expert_latent_up, false);
    }
    if (architecture_.experts.shared) {
      const bool always = architecture_.experts.gated_shared;
      if (always) add(names_.shared_router);
      if (!architecture_.feed_forward.gate.ungated) {
        add(names_.shared_gate, always);
      }
      add(names_.shared_up, always);
      add(names_.shared_down, always);
    }
    if (architecture_.norm.inner) add_norm(names_.feed_forward_inner_norm);
    if (architecture_.norm.place == NormPlace::kBefore) return;
    add_norm(names_.post_feed_forward_norm);
  }

  // The tensors behind the feed-forward part.
  void behind() {
    const Presence per_layer = architecture_.residual.per_layer_inputs;
    for (const char* name : {names_.per_layer_gate, names_.per_layer_output,
                             names_.post_per_layer_norm}) {
      add(name, per_layer);
    }
    if (architecture_.residual.layer_scales) add(names_.layer_scale, false);
    if (!architecture_.residual.streams) return;
    add_all({names_.stream_router, names_.stream_router_norm,
             names_.stream_predictions, names_.stream_corrections,
             names_.stream_scale});
  }

  void recurrent() {
    if (architecture_.recurrence.only) add_norm(names_.attention_norm);
    switch (architecture_.recurrence.mixer) {
      case Mixer::kAttention:
      case Mixer::kNone:
        return;
      case Mixer::kLightning:
        return add_all({names_.fused_attention, names_.attention_gate,
                        names_.second_norm});
      case Mixer::kShortConv:
        return add_all({names_.conv_in, names_.conv, names_.conv_out});
      case Mixer::kChannelSpace:
        add_all({names_.space_in, names_.space_conv, names_.space_parameters,
                 names_.space_steps, names_.space_decay, names_.space_skip,
                 names_.space_out});
        if (!architecture_.recurrence.parameter_norms) return;
        return add_all(
            {names_.space_step_norm, names_.space_b_norm, names_.space_c_norm});
      case Mixer::kTimeMix6:
      case Mixer::kTimeMix7:
        return time_mix();
      case Mixer::kStateSpace:
      case Mixer::kBoth:
        add_all({names_.space_in, names_.space_conv, names_.space_step_bias,
                 names_.space_decay, names_.space_skip, names_.space_out});
        return add(names_.space_norm, !architecture_.recurrence.optional_norm);
      case Mixer::kColumnRule:
        return add_all(
            {names_.query, names_.key, names_.value, names_.rule_query_conv,
             names_.rule_key_conv, names_.rule_value_conv, names_.rule_rates,
             names_.rule_steps_down, names_.rule_steps_up,
             names_.rule_gate_down, names_.rule_gate_up, names_.space_step_bias,
             names_.space_decay, names_.space_norm});
      case Mixer::kDeltaRule:
        add_all({names_.space_conv, names_.space_step_bias, names_.space_decay,
                 names_.space_norm, names_.space_out});
        // Older files of those whose groups are not interleaved have one matrix
        // for both.
        add(names_.fused_attention, architecture_.attention.interleaved_groups);
        add(names_.attention_gate, architecture_.attention.interleaved_groups);
        if (!architecture_.attention.interleaved_groups) {
          add(names_.space_in, false);
        }
        return architecture_.attention.interleaved_groups
                   ? add_all({names_.rule_rates, names_.rule_steps})
                   : add(names_.rule_rates_and_steps);
    }
  }

  void time_mix() {
    add_all({names_.second_norm, names_.mix_query, names_.mix_key,
             names_.mix_value, names_.mix_norm, names_.mix_output,
             names_.mix_down, names_.mix_up, names_.channel_key_share,
             names_.channel_key, names_.channel_value});
    if (architecture_.recurrence.mixer == Mixer::kTimeMix7) {
      add(names_.mix_shares);
      return add_all({"time_mix_w0", "time_mix_a0", "time_mix_a1",
                      "time_mix_a2", "time_mix_v0", "time_mix_v1",
                      "time_mix_v2", "time_mix_g1", "time_mix_g2",
                      "time_mix_k_k", "time_mix_k_a", "time_mix_r_k"});
    }
    add(names_.mix_shares, false);
    for (const char* name :
         {"time_mix_lerp_w", "time_mix_lerp_k", "time_mix_lerp_v",
          "time_mix_lerp_r", "time_mix_lerp_g"}) {
      add(name, false);
    }
    add_all({names_.mix_first_share, names_.mix_bonus, names_.mix_decay,
             names_.mix_decay_down, names_.mix_decay_up, names_.mix_gate,
             names_.channel_gate_share, names_.channel_gate});
  }

  void add_all(std::initializer_list<const char*> names) {
    for (const char* name : names) add(name);
  }

  const Architecture& architecture_;
  const TensorNames& names_;
  std::string prefix_;  // of the stems of layers
  std::vector<ReadTensor> tensors_;
};

}  // namespace

std::vector<ReadTensor> tensors_of(const Architecture& architecture) {
  return Names(architecture).all();
}

std::string stem_of(std::string_view tensor) {
  std::string prefix;
  for (const std::string_view of : {"enc.", "dec."}) {
    if (!tensor.starts_with(cat(of, "blk."))) continue;
    prefix = of;
    tensor.remove_prefix(of.size());
  }
  if (tensor.starts_with("blk.")) {
    const size_t dot = tensor.find('.', 4);
    if (dot != std::string_view::npos) tensor.remove_prefix(dot + 1);
  }
  for (const std::string_view end : {".weight", ".bias", ".scale"}) {
    if (tensor.ends_with(end)) {
      tensor.remove_suffix(end.size());
      break;
    }
  }
  return cat(prefix, tensor);
}

std::vector<std::string_view> nearest_architectures(
    const gguf::File& file, std::span<const Architecture* const> known) {
  std::set<std::string> stems;
  for (const gguf::Tensor& tensor : file.tensors()) {
    stems.insert(stem_of(tensor.name));
  }
  std::vector<std::string_view> nearest;
  size_t fewest = SIZE_MAX;
  for (const Architecture* architecture : known) {
    const std::vector<ReadTensor> tensors = tensors_of(*architecture);
    const bool complete =
        std::all_of(tensors.begin(), tensors.end(), [&](const ReadTensor& t) {
          return !t.always || stems.contains(t.stem);
        });
    const auto shared = static_cast<size_t>(std::count_if(
        tensors.begin(), tensors.end(),
        [&](const ReadTensor& t) { return stems.contains(t.stem); }));
    if (!complete || shared < stems.size()) continue;
    if (tensors.size() < fewest) nearest.clear();
    fewest = std::min(fewest, tensors.size());
    if (tensors.size() == fewest) nearest.push_back(architecture->name);
  }
  return nearest;
}

}  // namespace rc::model
