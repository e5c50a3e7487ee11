// What distinguishes the forward passes of model families, as data.
//
// To add an architecture, fill the struct in a file of architectures/ and add
// it to the list in architecture.cc. Whatever is a number of one model rather
// than a trait of its family is a hyper-parameter.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/hyper_parameters.h"
#include "runcible/plugin.h"

namespace rc::model {

// Whether the files of an architecture hold something.
enum class Presence { kNever, kOptional, kAlways };

// Which layers see only the last `sliding_window` positions: of each `period`
// layers the first `windowed`; none if the period is 0.
struct WindowPattern {
  int64_t period = 0;
  int64_t windowed = 0;
};

// What norms are made of: see RC_OP_RMS_NORM, and RC_OP_LAYER_NORM with a
// weight and a bias.
enum class Norm { kRootMeanSquare, kLayer };

// Names of tensors. Those of a layer follow "blk.N."; those of products are
// without ".weight" and ".bias".
struct TensorNames {
  const char* token_embedding = "token_embd.weight";
  const char* position_embedding = "position_embd.weight";
  const char* token_types = "token_types.weight";
  const char* embedding_norm = "token_embd_norm.weight";
  const char* output_norm = "output_norm.weight";
  const char* output = "output.weight";
  const char* rope_factors = "rope_freqs.weight";

  const char* attention_norm = "attn_norm.weight";
  const char* query = "attn_q";
  const char* key = "attn_k";
  const char* value = "attn_v";
  const char* query_norm = "attn_q_norm.weight";
  const char* key_norm = "attn_k_norm.weight";
  const char* attention_output = "attn_output";
  const char* attention_sinks = "attn_sinks.weight";
  const char* post_attention_norm = "post_attention_norm.weight";

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

  const char* router = "ffn_gate_inp";
  const char* expert_gate = "ffn_gate_exps";
  const char* expert_up = "ffn_up_exps";
  const char* expert_down = "ffn_down_exps";
};

// What a file means that lacks the key.
struct Defaults {
  float attention_softcap = 0.0f;
  float final_softcap = 0.0f;
  int64_t sliding_window = 0;
};

// How a feed-forward part is gated; see RC_OP_GLU.
struct Gate {
  int32_t function = RC_FUNCTION_SILU;
  float limit = 0.0f;
  float offset = 0.0f;
  // There is no gate: the function is of the product that else is gated.
  bool ungated = false;
};

inline double scale_of_key_size(const HyperParameters& hyper) {
  return 1.0 / std::sqrt(static_cast<double>(hyper.key_size));
}

inline double scale_of_width_per_head(const HyperParameters& hyper) {
  return 1.0 / std::sqrt(static_cast<double>(hyper.width) /
                         static_cast<double>(hyper.layers[0].heads));
}

struct Architecture {
  std::string_view name;  // general.architecture
  TensorNames names = {};
  Defaults defaults = {};

  // Rows see those before them; if not, all of their sequence.
  bool causal = true;
  // There are no logits: what the model gives are the rows of the last layer.
  bool gives_hidden_rows = false;
  Norm norm = Norm::kRootMeanSquare;
  // Norms are of the sums with the residual, none is before attention or the
  // feed-forward part.
  bool post_norms = false;
  // Each position has a row, and so may each type of tokens, which is added to
  // the embedding; nothing is rotated.
  bool learned_positions = false;
  bool embedding_norm = false;

  // Embeddings are multiplied by the square root of the width.
  bool scaled_embedding = false;

  Presence qkv_bias = Presence::kNever;
  Presence attention_output_bias = Presence::kNever;
  // Of gate, up and down; not of experts.
  Presence feed_forward_bias = Presence::kNever;
  // Norms over each head of queries and keys, before rotation.
  bool query_key_norm = false;
  // Each head has a number that takes part in its softmax as a position would.
  bool attention_sinks = false;
  int32_t rope_style = RC_ROPE_HALVES;
  // Divisors of the rotary frequencies, as a tensor.
  Presence rope_factors = Presence::kNever;
  // The ends of yarn's ramp are rounded to whole pairs.
  bool whole_yarn_pairs = true;
  WindowPattern window = {};
  // Layers with a window rotate with this base unless a key gives another, and
  // without scaling; 0: as all others.
  float local_rope_base = 0.0f;
  // Each so many-th layer does not rotate queries and keys; 0: all do.
  int64_t unrotated_every = 0;
  // What the products of queries and keys are multiplied by.
  double (*attention_scale)(const HyperParameters&) = scale_of_key_size;

  // Layers without key/value heads are selective state spaces.
  bool state_spaces = false;
  // Files have factors of embeddings, residuals, logits and attention.
  bool scale_keys = false;
  // Queries and keys rotate only where rope.scaling.finetuned says so.
  bool optional_rope = false;

  // Attention and feed-forward have a norm behind them too, before their
  // result is added to the residual.
  bool sandwich_norms = false;
  Gate gate = {};

  // kOptional: dense unless expert_count is above 0.
  Presence experts = Presence::kNever;
  // Of the router and of all three products.
  bool expert_bias = false;
  // The weights of the chosen experts are divided by their sum.
  bool normalized_routing = true;
};

// Throws RC_E_UNSUPPORTED naming the file, the architecture and those known.
const Architecture& find_architecture(const gguf::File& file);

}  // namespace rc::model
