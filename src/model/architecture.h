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

#include "model/architecture_names.h"
#include "model/hyper_parameters.h"
#include "model/traits.h"
#include "runcible/plugin.h"

namespace rc::model {

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
  // rectifier that is its square.
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
  // Norms are root mean squares where the file has the epsilon of such; see
  // norm_of.
  bool norms_by_epsilon = false;
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
  // Norms of the inputs of the last product of attention and of that of the
  // feed-forward part.
  bool inner_norms = false;
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
  // Files may say which layers rotate: attention.rope_pattern.
  bool rope_pattern = false;
  // In a model with windows only layers that have one rotate.
  bool only_windows_rotate = false;
  // So do the dense layers before those with experts.
  bool dense_layers_rotate = false;
  // What the products of queries and keys are multiplied by.
  double (*attention_scale)(const HyperParameters&) = scale_of_key_size;

  // Keys and values are made from a short vector for each position, which is
  // what the cache has (DeepSeek-AI 2024, arXiv:2405.04434). Queries may be
  // made from one, too.
  bool latent = false;
  // One matrix makes the keys and the values of all heads.
  bool joint_latent = false;
  // Layers with a window have other heads, short vectors and sizes of these.
  bool window_latent = false;
  // The part of keys that rotates is normed before.
  bool normed_latent_keys = false;
  // Norms of latent attention add the epsilon of the others.
  bool latent_epsilon = false;
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
  // The sum of its result and of those of the others is halved.
  bool averaged_shared_expert = false;
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
