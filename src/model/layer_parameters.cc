#include "model/layer_parameters.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/error.h"
#include "model/latent_parameters.h"
#include "model/limits.h"
#include "model/relative_bias.h"
#include "tensor/dtype.h"

namespace rc::model {
namespace {

constexpr int64_t kMaxStreams = 16;

// Heads of layers with a window.
void read_head_sizes(const Metadata& metadata, const Architecture& architecture,
                     HyperParameters& hyper) {
  for (Layer& layer : hyper.layers) {
    layer.key_size = hyper.key_size;
    layer.value_size = architecture.attention.separate_value_size
                           ? hyper.value_size
                           : hyper.key_size;
  }
  if (!architecture.attention.separate_window_heads) return;
  const int64_t size =
      metadata.find("attention.key_length_swa", 1, kMaxHeadSize)
          .value_or(hyper.key_size);
  const int64_t values =
      metadata.find("attention.value_length_swa", 1, kMaxHeadSize)
          .value_or(size);
  if (values != size) {
    fail(RC_E_UNSUPPORTED, metadata.file().name(), ": ",
         metadata.key("attention.value_length_swa"), " is ", values,
         ", but only heads whose values are as long as their keys (", size,
         ") can be computed");
  }
  if (size != hyper.key_size && hyper.sliding_window == 0) {
    metadata.refuse("attention.key_length_swa", size,
                    cat("there is no ",
                        metadata.key("attention.sliding_window"), " above 0"));
  }
  for (Layer& layer : hyper.layers) {
    if (layer.window > 0) layer.key_size = layer.value_size = size;
  }
}

// The last layers attend to what the last one before them of their kind, with a
// window or without, has stored.
void read_shared_caches(const Metadata& metadata, HyperParameters& hyper) {
  constexpr const char* kKey = "attention.shared_kv_layers";
  const int64_t shared =
      metadata.find(kKey, 0, hyper.layer_count() - 1).value_or(0);
  const int64_t own = hyper.layer_count() - shared;
  for (int64_t i = own; i < hyper.layer_count(); ++i) {
    Layer& layer = hyper.layers[static_cast<size_t>(i)];
    int64_t source = own - 1;
    while (source >= 0 &&
           hyper.layers[static_cast<size_t>(source)].window != layer.window) {
      --source;
    }
    if (source < 0) {
      metadata.refuse(kKey, shared,
                      cat("none of the ", own, " layers before has ",
                          layer.window > 0 ? "a window" : "no window",
                          " as layer ", i, " has"));
    }
    const Layer& stored = hyper.layers[static_cast<size_t>(source)];
    if (layer.heads % stored.kv_heads != 0) {
      metadata.refuse(
          kKey, shared,
          cat("layer ", i, " has ", layer.heads,
              " heads, which is no multiple of the ", stored.kv_heads,
              " key/value heads of layer ", source, ", whose keys it shares"));
    }
    layer.source = source;
    layer.kv_heads = stored.kv_heads;
  }
}

void read_per_layer(const Metadata& metadata, const Architecture& architecture,
                    HyperParameters& hyper) {
  constexpr const char* kKey = "embedding_length_per_layer_input";
  const bool always =
      architecture.residual.per_layer_inputs == Presence::kAlways;
  const std::optional<int64_t> size =
      metadata.find(kKey, always ? 1 : 0, kMaxWidth);
  if (always && !size) metadata.get(kKey, 1, kMaxWidth);
  hyper.per_layer.size = size.value_or(0);
  if (hyper.per_layer.size == 0) return;
  const char* const name = architecture.names.per_layer_embedding;
  const gguf::Tensor* table = metadata.file().find_tensor(name);
  if (table == nullptr || table->shape.size() != 2) {
    fail(RC_E_FORMAT, metadata.file().name(), ": tensor ", name,
         table == nullptr ? " is missing" : " is no matrix");
  }
  // The rows of all layers are numbered as one.
  const int64_t most =
      std::min<int64_t>(kMaxVocabulary, std::numeric_limits<int32_t>::max() /
                                            hyper.layer_count());
  hyper.per_layer.vocabulary = table->shape[0];
  if (table->shape[0] < 1 || table->shape[0] > most) {
    fail(RC_E_FORMAT, metadata.file().name(), ": tensor ", name, " has ",
         table->shape[0], " rows, but must have 1 to ", most);
  }
}

void read_streams(const Metadata& metadata, HyperParameters& hyper) {
  hyper.streams.count = metadata.get("altup.num_inputs", 1, kMaxStreams);
  hyper.streams.active =
      metadata.find("altup.active_idx", 0, hyper.streams.count - 1).value_or(0);
}

void read_cutoffs(const Metadata& metadata, HyperParameters& hyper) {
  constexpr const char* kKey = "activation_sparsity_scale";
  constexpr float kMost = 10.0f;
  const auto cutoffs = metadata.find_numbers(kKey);
  if (!cutoffs) return;
  if (cutoffs->size() != hyper.layers.size()) {
    metadata.refuse(kKey, cat("an array of ", cutoffs->size()),
                    cat("there are ", hyper.layer_count(), " layers"));
  }
  for (size_t i = 0; i < hyper.layers.size(); ++i) {
    const float cutoff = (*cutoffs)[i];
    if (!(std::abs(cutoff) <= kMost) && !(std::isinf(cutoff) && cutoff < 0)) {
      metadata.refuse(kKey, cat(cutoff, " in layer ", i),
                      cat("must be -infinity or ", -kMost, " to ", kMost));
    }
    hyper.layers[i].cutoff = cutoff;
  }
}

// One number for all layers, or an array with one for each, of which some may
// be of layers behind them.
std::vector<float> read_limits(const Metadata& metadata, const char* name,
                               const HyperParameters& hyper) {
  // Below, the least that the function of a gate gives would count, too.
  constexpr float kLeast = 0.3f;
  constexpr float kMost = 1e6f;
  const auto count = static_cast<size_t>(hyper.layer_count());
  const gguf::Entry* entry = metadata.file().find(metadata.key(name));
  std::vector<float> limits;
  if (entry == nullptr || entry->type != gguf::ValueType::kArray) {
    limits.assign(count, metadata.find_number(name, 0.0, kMost).value_or(0.0f));
  } else {
    limits = *metadata.find_numbers(name);
  }
  if (limits.size() != count &&
      limits.size() != count + static_cast<size_t>(hyper.guessing_layers)) {
    metadata.refuse(name, cat("an array of ", limits.size()),
                    cat("there are ", count, " layers"));
  }
  for (size_t i = 0; i < count; ++i) {
    if (limits[i] != 0.0f && !(limits[i] >= kLeast && limits[i] <= kMost)) {
      metadata.refuse(name, cat(limits[i], " in layer ", i),
                      cat("must be 0 or ", kLeast, " to ", kMost));
    }
  }
  return limits;
}

void read_gate_limits(const Metadata& metadata, HyperParameters& hyper) {
  const auto experts = read_limits(metadata, "swiglu_clamp_exp", hyper);
  const auto others = read_limits(metadata, "swiglu_clamp_shexp", hyper);
  for (size_t i = 0; i < hyper.layers.size(); ++i) {
    hyper.layers[i].expert_limit = experts[i];
    hyper.layers[i].gate_limit = others[i];
  }
}

void read_relative_bias(const Metadata& metadata,
                        const Architecture& architecture,
                        HyperParameters& hyper) {
  hyper.relative_buckets = metadata.get("attention.relative_buckets_count",
                                        kFewestBuckets, kMostBuckets);
  for (const Layer& layer : hyper.layers) {
    // All layers may have the biases of the first one, and the encoder the
    // caches of a layer that generates.
    if (layer.heads != hyper.layers[0].heads ||
        layer.kv_heads != hyper.layers[0].kv_heads) {
      metadata.refuse("attention.head_count", layer.heads,
                      "heads must be as many in all layers");
    }
  }
  // The encoder of a file that has more is none of a source.
  constexpr const char* kFirst = "decoder_start_token_id";
  if (architecture.source != nullptr) {
    hyper.first_token = metadata.get(kFirst, 0, hyper.vocabulary - 1);
  } else {
    metadata.find(kFirst, 0, kMaxVocabulary);
    metadata.find("decoder_block_count", 0, kMaxLayers);
  }
}

void read_layer_scales(const gguf::File& file, const char* name,
                       HyperParameters& hyper) {
  for (int64_t i = 0; i < hyper.layer_count(); ++i) {
    const std::string full = cat("blk.", i, ".", name);
    const gguf::Tensor* tensor = file.find_tensor(full);
    if (tensor == nullptr) continue;
    if (tensor->dtype != RC_DTYPE_F32 ||
        tensor->shape != std::vector<int64_t>{1}) {
      fail(RC_E_FORMAT, file.name(), ": tensor ", full,
           " must be F32 [1], a factor of what the layer gives");
    }
    float& scale = hyper.layers[static_cast<size_t>(i)].scale;
    decode_row(tensor->dtype, file.read(*tensor).data(), &scale, 1);
    if (!std::isfinite(scale)) {
      fail(RC_E_FORMAT, file.name(), ": tensor ", full, " holds ", scale,
           ", which is no finite number");
    }
  }
}

}  // namespace

void read_layer_parameters(const Metadata& metadata,
                           const Architecture& architecture,
                           HyperParameters& hyper) {
  read_head_sizes(metadata, architecture, hyper);
  if (architecture.latent.separate_for_windows) {
    read_window_latent(metadata, hyper);
  }
  if (architecture.attention.shared_caches) read_shared_caches(metadata, hyper);
  if (architecture.residual.per_layer_inputs != Presence::kNever) {
    read_per_layer(metadata, architecture, hyper);
  }
  if (architecture.position.relative_bias) {
    read_relative_bias(metadata, architecture, hyper);
  }
  if (architecture.residual.streams) read_streams(metadata, hyper);
  if (architecture.feed_forward.sparse_gates) read_cutoffs(metadata, hyper);
  if (architecture.feed_forward.gate_limits) read_gate_limits(metadata, hyper);
  if (architecture.residual.layer_scales) {
    read_layer_scales(metadata.file(), architecture.names.layer_scale, hyper);
  }
}

}  // namespace rc::model
