// Attention: its products, heads, gates and caches.
#pragma once

#include <cmath>
#include <cstdint>

#include "model/hyper_parameters.h"
#include "model/traits/presence.h"

namespace rc::model {

// Norms of queries and keys: over each head before it rotates, the same with a
// separate weight for each head, over each head after its rotation, over all
// heads together before they rotate, or without a weight over each head after
// its rotation, in layers that rotate.
enum class HeadNorm {
  kNone,
  kEach,
  kEachItsOwn,
  kRotated,
  kTogether,
  kUnweighted
};

// Gates that multiply the result of attention. The first three are the sigmoid
// of one number for each element of a head, which follow the queries of each
// head in their matrix, of the same numbers from a separate matrix, or of one
// number for each head; the last is the softplus of one number for each head or
// for each element, as many as the matrix has rows.
enum class AttentionGate {
  kNone,
  kWithQueries,
  kOfElements,
  kOfHeads,
  kSoftplus
};

inline double scale_of_key_size(const HyperParameters& hyper) {
  return 1.0 / std::sqrt(static_cast<double>(hyper.key_size));
}

inline double scale_of_one(const HyperParameters&) { return 1.0; }

inline double scale_of_width_per_head(const HyperParameters& hyper) {
  return 1.0 / std::sqrt(static_cast<double>(hyper.width) /
                         static_cast<double>(hyper.layers[0].heads));
}

struct AttentionTraits {
  // Rows see those before them; if not, all of their sequence.
  bool causal = true;
  Presence qkv_bias = Presence::kNever;
  Presence output_bias = Presence::kNever;
  // One matrix for queries, keys and values.
  Presence fused = Presence::kNever;
  // Files may limit queries, keys and values.
  bool clamps = false;
  HeadNorm head_norm = HeadNorm::kNone;
  bool optional_head_norm = false;  // only where the file has them
  // Whether models with this number of experts have no norms of heads; a key
  // may say it.
  bool (*without_head_norm)(int64_t experts) = nullptr;
  // The factor of the products of queries and keys.
  double (*scale)(const HyperParameters&) = scale_of_key_size;
  // Each head has a number that takes part in its softmax as a position would.
  // kOptional: in layers whose file has it.
  Presence sinks = Presence::kNever;
  AttentionGate gate = AttentionGate::kNone;
  // Value heads are interleaved: head h has the keys of group h modulo the
  // number of groups.
  bool interleaved_groups = false;
  // Layers with a window may have heads of another size.
  bool separate_window_heads = false;
  // Value heads may have another size than key heads.
  bool separate_value_size = false;
  // The last layers may attend with the keys and values of earlier ones.
  bool shared_caches = false;
  // Layers without a matrix of values use their keys, unnormed, in its place.
  bool keys_for_values = false;
  // Value heads are divided by their root mean square.
  bool normed_values = false;
  // Files may give a factor of values.
  bool value_scale = false;
};

// Attention whose keys and values are made from a short vector for each
// position, which is all that the cache contains (DeepSeek-AI 2024,
// arXiv:2405.04434). Queries may be made from a short vector, too.
struct LatentTraits {
  bool present = false;
  // One matrix makes the keys and the values of all heads.
  bool joint = false;
  // Layers with a window have other heads, short vectors and sizes of these.
  bool separate_for_windows = false;
  // The rotating part of keys is normed before its rotation.
  bool normed_keys = false;
  // The norms of latent attention add the model's epsilon.
  bool model_epsilon = false;
  // An indexer chooses the positions that a row sees, as many as a key says
  // (DeepSeek-AI 2025, arXiv:2512.02556). It is not computed: sequences are
  // limited to the number of positions that it would choose.
  bool indexed = false;
};

}  // namespace rc::model
