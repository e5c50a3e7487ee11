// The numbers of a model, read from the metadata of its file.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "files/gguf/file.h"
#include "model/rope.h"

namespace rc::model {

// Of contexts, original contexts and windows: far above every known model.
inline constexpr int64_t kMaxContext = int64_t{1} << 30;

// The way in which the rows of a sequence are brought together.
enum class Mixer {
  kAttention,
  kStateSpace,    // Mamba 2; see RC_OP_SELECTIVE_SCAN
  kBoth,          // attention and Mamba 2 side by side
  kChannelSpace,  // Mamba; see RC_OP_CHANNEL_SCAN
  kShortConv,     // a gated convolution; see RC_OP_SHORT_CONV
  kDeltaRule,     // linear attention; see RC_OP_DELTA_RULE
  kLightning,     // linear attention that fades; see lightning.h
  kColumnRule,    // linear attention; see RC_OP_COLUMN_DELTA_RULE
  kTimeMix6,      // RWKV 6, with its channel mix; see RC_OP_FADING_STATE
  kTimeMix7,      // RWKV 7, likewise
  kNone           // nothing: the layer is a feed-forward part
};

struct Xielu {
  float alpha_p = 0.0f;
  float alpha_n = 0.0f;
  float beta = 0.0f;
  float epsilon = 0.0f;
};

// The properties of one layer.
struct Layer {
  static constexpr int kUnrotated = -1;

  Mixer mixer = Mixer::kAttention;
  // Of layers with attention.
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t key_size = 0;  // of one head
  int64_t value_size = 0;
  // The number of the earlier layer whose keys and values it attends to; -1:
  // it has its own.
  int64_t source = -1;
  int64_t feed_forward = 0;  // 0: none that is dense
  bool experts = false;
  // Positions that a row sees, and as many behind it if the model is not
  // causal; 0: all of them.
  int64_t window = 0;
  int rope = 0;  // in HyperParameters::ropes, or kUnrotated
  // Of the feed-forward part if that is its function; see RC_OP_XIELU.
  Xielu xielu;
  // The upper limit of the functions of gates, and the limit of the size of the
  // products that they multiply, in experts and in other parts; 0: there is no
  // limit.
  float expert_limit = 0.0f;
  float gate_limit = 0.0f;
  // The number of standard deviations above the mean at which a gate is cut
  // off; see sparsity.h. -infinity: it is not.
  float cutoff = -std::numeric_limits<float>::infinity();
  float scale = 1.0f;  // of what the layer gives

  bool attends() const {
    return mixer == Mixer::kAttention || mixer == Mixer::kBoth;
  }
  bool has_cache() const { return attends() && source < 0; }
};

// Of the layers that carry a state from row to row. A convolution has only a
// width; channels are heads of one element in one group; of the delta rule,
// heads are those of values and groups those of queries and keys.
struct StateSpace {
  int64_t conv_width = 0;
  int64_t heads = 0;
  int64_t head_size = 0;
  int64_t groups = 0;
  int64_t size = 0;  // of the state of an element of a head
  int64_t rank = 0;  // of the steps of channels
  // The steps, b and c of channels are divided by their root mean square, to
  // which this is added; 0: they are not.
  float plain_epsilon = 0.0f;
  // Limits of the steps of heads.
  float least_step = 0.0f;
  float most_step = std::numeric_limits<float>::infinity();
  int64_t inner() const { return heads * head_size; }
};

// Of the layers of RWKV: the ranks of the products that make what from the
// rows. Heads have as many columns of the state as elements: see StateSpace.
struct TimeMix {
  int64_t shift_rank = 0;  // of the shares of the row before; RWKV 6
  int64_t decay_rank = 0;
  int64_t rate_rank = 0;   // RWKV 7, like the next two
  int64_t value_rank = 0;  // of the shares of the first layer's values
  int64_t gate_rank = 0;
  int64_t halved_every = 0;  // layers behind which the residual is halved; 0:
                             // it never is
};

// Of latent attention. In the caches a position has one key of
// HyperParameters::key_size elements: the short vector, then what is rotated.
struct Latent {
  int64_t heads = 0;       // of each layer that attends
  int64_t query_rank = 0;  // of the short vector for queries; 0: there is none
  int64_t rank = 0;        // of that for keys and values
  int64_t unrotated = 0;   // elements of a head's query and key
  int64_t rotated = 0;     // and those behind them
  int64_t value = 0;       // of a head
  // The weight of the logarithm of yarn's factor in the scale, twice.
  float log_multiplier = 0.0f;
  double scale() const {
    return 1.0 / std::sqrt(static_cast<double>(unrotated + rotated));
  }
};

// Separate inputs of the layers; see per_layer.h.
struct PerLayer {
  int64_t size = 0;  // 0: there are none
  int64_t vocabulary = 0;
};

// Streams of the residual; see alternating.h.
struct Streams {
  int64_t count = 1;
  int64_t active = 0;  // the one that layers compute
};

struct HyperParameters {
  std::string architecture;  // "llama"
  std::string name;          // general.name, or ""
  int64_t vocabulary = 0;
  // That the model was trained for; source and answer together.
  int64_t context_length = 0;
  int64_t width = 0;  // embedding length
  std::vector<Layer> layers;
  // Of one head, where layers do not say otherwise.
  int64_t key_size = 0;
  int64_t value_size = 0;
  float norm_epsilon = 0;

  // The first has the model's own keys; another that of layers with a window.
  // None if no layer rotates.
  std::vector<RopeParameters> ropes;

  int64_t sliding_window = 0;    // 0: none
  int64_t chosen_positions = 0;  // by an indexer; 0: there is none
  float alibi = 0.0f;            // the largest slope's logarithm; 0: none
  int64_t relative_buckets = 0;  // of distances; 0: scores have no such bias
  float clamp = 0.0f;            // of queries, keys and values; 0: none
  float value_scale = 1.0f;
  float temperature = 0.0f;  // of layers that do not rotate; 0: none
  int64_t temperature_length = 0;
  float attention_softcap = 0.0f;  // 0: none
  bool head_norms = true;  // where the architecture has such without weights
  // Queries at position p are multiplied by
  // 1 + position_scale * ln(1 + floor(p / original context)); 0: they are not.
  float position_scale = 0.0f;
  float final_softcap = 0.0f;  // 0: none
  int64_t experts = 0;         // 0: dense
  int64_t experts_used = 0;
  int64_t expert_groups = 1;
  int64_t expert_groups_used = 1;
  int64_t expert_feed_forward = 0;
  int64_t expert_width = 0;  // of what experts read; 0: that of the model
  int64_t shared_feed_forward = 0;  // of the shared expert; 0: there is none
  int expert_score = 0;             // RC_SCORE_*; of chosen ones with a bias
  bool normalized_routing = true;
  // RC_FUNCTION_* of feed-forward parts in place of the architecture's; -1: it
  // is that.
  int32_t activation = -1;
  // The result of that function is multiplied by its argument.
  bool activation_times_itself = false;
  float expert_scale = 1.0f;  // of the sum over the chosen experts
  // Layers behind the others that guess tokens further ahead; not computed.
  int64_t guessing_layers = 0;
  bool parallel_residual = false;
  // The token that what is generated begins with, where there is a source.
  int64_t first_token = 0;
  // The pooling of hidden rows to an embedding, by GGUF's numbers, for the
  // caller. 0: none.
  int64_t pooling = 0;

  Latent latent;           // of no use unless the architecture has it
  Latent window_latent;    // of layers with a window; no rank: as the others
  StateSpace state_space;  // of no use unless a layer is one
  TimeMix time_mix;        // likewise
  PerLayer per_layer;
  Streams streams;

  // Factors of embeddings, of what a layer adds to the residual, and of
  // logits.
  float embedding_scale = 1.0f;
  float residual_scale = 1.0f;
  float logit_factor = 1.0f;
  float attention_scale = 0.0f;  // 0: the architecture's
  // Of what parts add to, where that is normed.
  float carried_scale = 1.0f;

  // The keys that were looked for, without the architecture's name.
  std::vector<std::string> keys;

  int64_t layer_count() const { return static_cast<int64_t>(layers.size()); }
};

inline const Latent& latent_of(const HyperParameters& hyper,
                               const Layer& layer) {
  const bool other = layer.window > 0 && hyper.window_latent.rank > 0;
  return other ? hyper.window_latent : hyper.latent;
}

// Elements of a head of what attention gives.
inline int64_t given_size(const HyperParameters& hyper, const Layer& layer) {
  return hyper.latent.rank > 0 ? latent_of(hyper, layer).value
                               : layer.value_size;
}

struct Architecture;

// Reads and checks: every number is in a range in which products of any four of
// them, and of their caches' sizes, fit 63 bits. Throws RC_E_FORMAT naming
// file, key, value and limit; RC_E_UNSUPPORTED for what no backend computes.
HyperParameters read_hyper_parameters(const gguf::File& file,
                                      const Architecture& architecture);

}  // namespace rc::model
