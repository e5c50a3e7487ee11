// What distinguishes the forward passes of model families, as data.
//
// To add an architecture, fill the struct in a file of architectures/ and add
// it to the list in architecture.cc. Whatever is a number of one model rather
// than a trait of its family is a hyper-parameter.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "model/hyper_parameters.h"
#include "runcible/plugin.h"

namespace rc::model {

// Whether the files of an architecture hold something.
enum class Presence { kNever, kOptional, kAlways };

// Which layers see only the last `sliding_window` positions: of each `period`
// layers the first `windowed`, or the last if the first sees all; none if the
// period is 0. Where rows see those behind them, `sliding_window` counts the
// positions of both sides.
struct WindowPattern {
  int64_t period = 0;
  int64_t windowed = 0;
  bool first_sees_all = false;
};

// What norms are made of: see RC_OP_RMS_NORM, and RC_OP_LAYER_NORM with a
// weight and a bias, with a weight alone, or with neither.
enum class Norm { kRootMeanSquare, kLayer, kLayerUnbiased, kLayerPlain };

// Where the norms of attention and of the feed-forward part are: before it,
// before and behind it, behind it, or of the sum of its result and the residual
// (where the others are of what is no sum yet).
enum class NormPlace { kBefore, kAround, kBehind, kOfSums };

// Norms of queries and keys: over each head before it rotates, the same with a
// weight for each head, over each head after it has rotated, over all heads
// together, before they rotate, or without a weight over each head after it
// rotates, where it does.
enum class HeadNorm {
  kNone,
  kEach,
  kEachItsOwn,
  kRotated,
  kTogether,
  kUnweighted
};

// Gates of attention, whose sigmoid multiplies what attention gives: none, one
// for each element of a head, which the matrix of queries has behind the
// queries of each head, the same in a separate matrix, or one for each head.
enum class AttentionGate { kNone, kWithQueries, kOfElements, kOfHeads };

// What a file's logit_scale does to the logits.
enum class LogitScale { kDivides, kMultiplies };

// Names of tensors. Those of a layer follow "blk.N.", or what `layer` says with
// its number; those of products are without ".weight" and ".bias".
struct TensorNames {
  const char* layer = "blk.";
  const char* token_embedding = "token_embd.weight";
  const char* position_embedding = "position_embd.weight";
  const char* token_types = "token_types.weight";
  const char* embedding_norm = "token_embd_norm.weight";
  const char* output_norm = "output_norm.weight";
  const char* output = "output.weight";
  const char* output_bias = "output.bias";
  const char* rope_factors = "rope_freqs.weight";
  const char* short_rope_factors = "rope_factors_short.weight";
  const char* long_rope_factors = "rope_factors_long.weight";

  const char* attention_norm = "attn_norm.weight";
  // The rows of queries, then of keys, then of values.
  const char* fused_attention = "attn_qkv";
  const char* query = "attn_q";
  const char* key = "attn_k";
  const char* value = "attn_v";
  const char* query_norm = "attn_q_norm.weight";
  const char* key_norm = "attn_k_norm.weight";
  // Of latent attention: what queries, and keys and values, are made from, and
  // what makes them of it. The rows of kv_down are those of the short vector,
  // then those of the part of the keys that rotates. Old files have kv_up, for
  // each head the rows of its keys and then those of its values, in place of
  // key_up, which is turned, and value_up.
  const char* query_down = "attn_q_a";
  const char* query_down_norm = "attn_q_a_norm.weight";
  const char* query_up = "attn_q_b";
  const char* kv_down = "attn_kv_a_mqa";
  const char* kv_down_norm = "attn_kv_a_norm.weight";
  const char* kv_up = "attn_kv_b";
  const char* key_up = "attn_k_b";
  const char* value_up = "attn_v_b";
  // Of the indexer, which is not computed.
  const char* index_query = "indexer.attn_q_b";
  const char* index_key = "indexer.attn_k";
  const char* index_key_norm = "indexer.k_norm.weight";
  const char* index_weights = "indexer.proj";
  const char* attention_output = "attn_output";
  const char* attention_sinks = "attn_sinks.weight";
  const char* relative_bias = "attn_rel_b.weight";
  const char* post_attention_norm = "post_attention_norm.weight";

  // See source.h.
  const char* source_norm = "cross_attn_norm.weight";
  const char* source_query = "cross_attn_q";
  const char* source_key = "cross_attn_k";
  const char* source_value = "cross_attn_v";
  const char* source_output = "cross_attn_o";

  const char* feed_forward_norm = "ffn_norm.weight";
  const char* gate = "ffn_gate";
  const char* up = "ffn_up";
  const char* down = "ffn_down";
  const char* post_feed_forward_norm = "post_ffw_norm.weight";

  const char* space_in = "ssm_in.weight";
  const char* space_conv = "ssm_conv1d";
  const char* space_step_bias = "ssm_dt.bias";
  const char* space_decay = "ssm_a";
  const char* space_skip = "ssm_d";
  const char* space_norm = "ssm_norm.weight";
  const char* space_out = "ssm_out";
  const char* space_parameters = "ssm_x.weight";
  const char* space_steps = "ssm_dt";
  const char* space_step_norm = "ssm_dt_norm.weight";
  const char* space_b_norm = "ssm_b_norm.weight";
  const char* space_c_norm = "ssm_c_norm.weight";

  const char* rule_rates = "ssm_beta.weight";
  const char* rule_steps = "ssm_alpha.weight";
  const char* rule_rates_and_steps = "ssm_ba.weight";
  const char* attention_gate = "attn_gate";

  const char* conv_in = "shortconv.in_proj.weight";
  const char* conv = "shortconv.conv";
  const char* conv_out = "shortconv.out_proj";

  const char* second_norm = "attn_norm_2.weight";
  const char* mix_shares = "time_mix_lerp_fused.weight";
  const char* mix_first_share = "time_mix_lerp_x.weight";
  const char* mix_down = "time_mix_w1.weight";
  const char* mix_up = "time_mix_w2.weight";
  const char* mix_bonus = "time_mix_first.weight";
  const char* mix_decay = "time_mix_decay.weight";
  const char* mix_decay_down = "time_mix_decay_w1.weight";
  const char* mix_decay_up = "time_mix_decay_w2.weight";
  const char* mix_query = "time_mix_receptance";
  const char* mix_key = "time_mix_key";
  const char* mix_value = "time_mix_value";
  const char* mix_gate = "time_mix_gate";
  const char* mix_norm = "time_mix_ln.weight";
  const char* mix_output = "time_mix_output";
  const char* channel_key_share = "channel_mix_lerp_k.weight";
  const char* channel_gate_share = "channel_mix_lerp_r.weight";
  const char* channel_key = "channel_mix_key";
  const char* channel_value = "channel_mix_value";
  const char* channel_gate = "channel_mix_receptance";

  const char* router = "ffn_gate_inp";
  const char* expert_gate = "ffn_gate_exps";
  const char* expert_up = "ffn_up_exps";
  const char* expert_down = "ffn_down_exps";
  const char* selection_bias = "exp_probs_b.bias";
  const char* shared_router = "ffn_gate_inp_shexp.weight";
  const char* shared_gate = "ffn_gate_shexp";
  const char* shared_up = "ffn_up_shexp";
  const char* shared_down = "ffn_down_shexp";
  const char* expert_latent_down = "ffn_latent_down";
  const char* expert_latent_up = "ffn_latent_up";
  // Of experts beside a dense part. The rows of expert_gate_up are those of an
  // expert's gate, then those of its other product.
  const char* router_scale = "ffn_gate_inp.scale";
  const char* expert_norm = "pre_ffw_norm_2.weight";
  const char* post_dense_norm = "post_ffw_norm_1.weight";
  const char* post_expert_norm = "post_ffw_norm_2.weight";
  const char* expert_gate_up = "ffn_gate_up_exps.weight";
  const char* expert_scales = "ffn_down_exps.scale";

  // See per_layer.h.
  const char* per_layer_embedding = "per_layer_token_embd.weight";
  const char* per_layer_projection = "per_layer_model_proj.weight";
  const char* per_layer_norm = "per_layer_proj_norm.weight";
  const char* per_layer_gate = "inp_gate";
  const char* per_layer_output = "proj";
  const char* post_per_layer_norm = "post_norm.weight";
  const char* layer_scale = "layer_output_scale.weight";

  // See alternating.h.
  const char* stream_projections = "altup_proj.weight";
  const char* stream_returns = "altup_unembd_proj.weight";
  const char* stream_router = "altup_router";
  const char* stream_router_norm = "altup_router_norm.weight";
  const char* stream_predictions = "altup_predict_coef.weight";
  const char* stream_corrections = "altup_correct_coef.weight";
  const char* stream_scale = "altup_correct_scale.weight";
  const char* low_rank_down = "laurel_l";
  const char* low_rank_up = "laurel_r";
  const char* low_rank_norm = "laurel_post_norm.weight";
};

// What a file means that lacks the key.
struct Defaults {
  float attention_softcap = 0.0f;
  float final_softcap = 0.0f;
  int64_t sliding_window = 0;
  float alibi = 0.0f;
  // Only models of so many layers have what `alibi` says; 0: all.
  int64_t alibi_layers = 0;
  float temperature = 0.0f;
  int64_t temperature_length = 0;
  int64_t shared_experts = 0;
  float embedding_scale = 1.0f;
  // What layers add is multiplied by this divided by the square root of their
  // number; 0: it is as it is.
  float residual_depth = 0.0f;
  // The width of which logits are as they are; 0: that of the model.
  int64_t logit_width = 0;
  // See attention_interval of Architecture.
  int64_t attention_interval = 4;
};

// How a feed-forward part is gated; see RC_OP_GLU.
struct Gate {
  int32_t function = RC_FUNCTION_SILU;
  float limit = 0.0f;
  float offset = 0.0f;
  // There is no gate: the function is of the product that else is gated.
  bool ungated = false;
  // What the function gives is multiplied by what it was given; of the
  // rectifier that is its square. Only where there is no gate.
  bool times_itself = false;
  // The function is that of RC_OP_XIELU, with parameters of each layer. Only
  // where there is no gate.
  bool xielu = false;
  // One matrix has the rows of the gate, then those of the other product.
  bool fused = false;
  // Only in files that have no matrix for the gate alone.
  bool fused_or_apart = false;
  // Files without a matrix for the gate have none: the rectifier is of the
  // product that else is gated.
  bool optional = false;
};

inline double scale_of_key_size(const HyperParameters& hyper) {
  return 1.0 / std::sqrt(static_cast<double>(hyper.key_size));
}

inline double scale_of_one(const HyperParameters&) { return 1.0; }

inline double scale_of_width_per_head(const HyperParameters& hyper) {
  return 1.0 / std::sqrt(static_cast<double>(hyper.width) /
                         static_cast<double>(hyper.layers[0].heads));
}

struct Architecture {
  std::string_view name;  // general.architecture
  // The part of the same files that reads a source, whose rows each layer
  // attends to after those before it; nullptr: there is none. See source.h.
  const Architecture* source = nullptr;
  TensorNames names = {};
  Defaults defaults = {};

  // Rows see those before them; if not, all of their sequence.
  bool causal = true;
  // There are no logits: what the model gives are the rows of the last layer,
  // which may be normed.
  bool gives_hidden_rows = false;
  bool normed_hidden_rows = false;
  Norm norm = Norm::kRootMeanSquare;
  // The key of epsilon is that of root mean squares, whatever norms are.
  bool epsilon_of_squares = false;
  NormPlace norm_place = NormPlace::kBefore;
  // What a row sees of a position falls with the distance, at another rate for
  // each head; nothing is rotated (Press et al. 2021, arXiv:2108.12409).
  // kOptional: where attention.max_alibi_bias says so.
  Presence alibi = Presence::kNever;
  // The rates are multiplied by the scale of attention, as its products are.
  bool scaled_alibi = false;
  // A score has a number of its head and of the bucket that the distance is in,
  // which each layer has, or the first one for all; nothing is rotated. See
  // relative_bias.h.
  bool relative_bias = false;
  // Files may limit queries, keys and values.
  bool clamps = false;
  // Each position has a row, which is added to the embedding; nothing is
  // rotated.
  bool learned_positions = false;
  // Each type of tokens has a row, which is added to the embedding. kOptional
  // or kNever.
  Presence token_types = Presence::kNever;
  bool embedding_norm = false;
  // The first layer has no norm before attention.
  bool first_unnormed = false;

  // Embeddings are multiplied by the square root of the width.
  bool scaled_embedding = false;

  Presence qkv_bias = Presence::kNever;
  Presence attention_output_bias = Presence::kNever;
  // Of gate, up and down; not of experts.
  Presence feed_forward_bias = Presence::kNever;
  // One matrix for queries, keys and values.
  Presence fused_attention = Presence::kNever;
  Presence output_bias = Presence::kNever;
  // Where the embedding table is the output matrix, logits are divided by the
  // square root of the width.
  bool scaled_tied_output = false;
  HeadNorm head_norm = HeadNorm::kNone;
  bool optional_head_norm = false;  // only where the file has them
  // Whether models of that many experts have none; a key may say it.
  bool (*without_head_norm)(int64_t experts) = nullptr;
  // What a part adds to is what it reads, which is normed, times a factor that
  // files may say.
  bool normed_residual = false;
  // Attention and feed-forward read the same residual, and both are added to
  // it. One of their norms may be missing: it is that of the other. kOptional:
  // where use_parallel_residual says so.
  Presence parallel_residual = Presence::kNever;
  // Each head has a number that takes part in its softmax as a position would.
  // kOptional: in layers whose file has it.
  Presence attention_sinks = Presence::kNever;
  int32_t rope_style = RC_ROPE_HALVES;
  // Divisors of the rotary frequencies, as a tensor.
  Presence rope_factors = Presence::kNever;
  // Others for sequences that are no longer than the original context, and for
  // those that are.
  bool long_rope = false;
  // Yarn changes the scale of attention in place of cosine and sine.
  bool yarn_of_scores = false;
  // Files may say how much stronger attention is than the usual scale of yarn
  // makes it.
  bool yarn_logarithms = false;
  // Files may say that queries are multiplied by a factor that grows with each
  // original context that their position is beyond.
  bool position_scale = false;
  // The ends of yarn's ramp are rounded to whole pairs.
  bool whole_yarn_pairs = true;
  WindowPattern window = {};
  // A window is a chunk: rows see those of its own multiple of sliding_window.
  bool chunked_windows = false;
  // Layers that do not rotate raise their scores with the position; see
  // RC_OP_GENERAL_ATTENTION.
  bool temperature = false;
  // Layers that see all rotate half of what rope.dimension_count says.
  bool half_rope = false;
  // Layers with a window rotate without scaling, and with this base unless a
  // key gives another; base 0: that of the others.
  bool local_rope = false;
  float local_rope_base = 0.0f;
  // Each so many-th layer does not rotate queries and keys; 0: all do.
  int64_t unrotated_every = 0;
  // In a model with windows only layers that have one rotate.
  bool only_windows_rotate = false;
  // What the products of queries and keys are multiplied by.
  double (*attention_scale)(const HyperParameters&) = scale_of_key_size;

  // Keys and values are made from a short vector for each position, which is
  // what the cache has (DeepSeek-AI 2024, arXiv:2405.04434). Queries may be
  // made from one, too.
  bool latent = false;
  // One matrix makes the keys and the values of all heads.
  bool joint_latent = false;
  // An indexer chooses which positions a row sees, of which a key says how many
  // (DeepSeek-AI 2025, arXiv:2512.02556). It is not computed: sequences have no
  // more positions than it would choose.
  bool indexed = false;

  // What layers without key/value heads have in place of attention; kAttention:
  // all have these. kBoth: all layers are of this kind.
  Mixer recurrent = Mixer::kAttention;
  // All layers are of that kind, and there is neither attention nor a
  // feed-forward part.
  bool only_recurrent = false;
  // Files say which layers attend: one by one, or of each so many the last one.
  bool attention_interval = false;
  // A layer with a feed-forward part has no mixer, and one with a mixer no
  // feed-forward part. All have the norm of mixers.
  bool single_parts = false;
  // What a state space gives is normed only where the file has a norm for it.
  bool optional_space_norm = false;
  // Steps, b and c of channels have norms.
  bool space_norms = false;
  // Nothing is rotated.
  bool unrotated = false;
  // Layers with a window may have heads of another size.
  bool own_window_heads = false;
  // The last layers may attend with the keys and values of earlier ones.
  bool shared_caches = false;
  // Heads of values may have another length than those of keys.
  bool own_value_size = false;
  // Files may say what values are multiplied by.
  bool value_scale = false;
  // Heads of values are divided by their root mean square.
  bool normed_values = false;
  // Layers without a matrix of values have their keys, unnormed, for them.
  bool keys_for_values = false;
  // Layers have an input of their own for each token; see per_layer.h.
  // kOptional: where a key says how large it is.
  Presence per_layer_inputs = Presence::kNever;
  // What a layer gives may be multiplied by a number of the layer.
  bool layer_scales = false;
  // The residual is several streams, of which layers compute one; see
  // alternating.h.
  bool alternating = false;
  // Beside attention is a product of low rank; see alternating.h.
  bool low_rank_residual = false;
  // Files may say how much of a gate is cut off in each layer; see sparsity.h.
  bool sparse_gates = false;
  AttentionGate attention_gate = AttentionGate::kNone;
  // Heads of values are interleaved: head h has the keys of group h modulo
  // their number.
  bool interleaved_groups = false;
  // Files have factors of embeddings, residuals, logits and attention.
  bool scale_keys = false;
  LogitScale logit_scale = LogitScale::kDivides;
  // Queries and keys rotate only where rope.scaling.finetuned says so.
  bool optional_rope = false;

  Gate gate = {};
  // Files may name another function than the gate's.
  bool names_activation = false;
  // Files may limit gates and what they gate, of experts and of other parts, in
  // each layer.
  bool gate_limits = false;
  // feed_forward_length counts the rows of the gate and of what it gates.
  bool gate_counted = false;

  // kOptional: dense unless expert_count is above 0.
  Presence experts = Presence::kNever;
  // Layers without a router are dense.
  bool optional_routers = false;
  // Of the router and of all three products.
  bool expert_bias = false;
  // The shares of those chosen are divided by their sum; a key may say it.
  bool normalized_routing = true;
  // The first layers may be dense.
  bool dense_first = false;
  // The same, and experts are chosen by the sum of their score and a bias,
  // perhaps among those of some groups; see RC_OP_CHOOSE.
  bool selection_bias = false;
  // No first layers of such models are dense.
  bool all_experts = false;
  // The bias may be missing; see RC_OP_CHOOSE_IN_GROUPS.
  bool grouped_experts = false;
  // One expert for each row, of which the input, not the result, is multiplied
  // by its weight: the sigmoid of its score.
  bool weighted_inputs = false;
  // Experts are chosen one after another; see RC_OP_SPARSE_MIX.
  bool sparse_mix = false;
  // What scores are where a file does not say it: GGUF's number, and that of
  // files with the bias, if that is another; 0: it is not.
  int64_t default_scores = 1;
  int64_t biased_scores = 0;
  // Experts may read and give shorter rows than the model's.
  bool latent_experts = false;
  // Files may have an expert that is always used.
  bool shared_expert = false;
  // It counts as much as the sigmoid of a product says.
  bool gated_shared_expert = false;
  // Layers with experts have a dense part too: both read the residual, through
  // norms of their own, are normed and added. The router reads it divided by
  // its root mean square and by the root of the width. What an expert gives is
  // multiplied by a number of the expert.
  bool experts_beside_dense = false;
};

// In the order in which messages name them.
std::span<const Architecture* const> known_architectures();

// Throws RC_E_UNSUPPORTED naming the file, the architecture, those known and,
// if the file's tensors have the names that some of them have, these.
const Architecture& find_architecture(const gguf::File& file);

}  // namespace rc::model
