#include "model/latent_parameters.h"

#include <algorithm>
#include <optional>

#include "base/cat.h"
#include "model/limits.h"

namespace rc::model {

void read_latent(const Metadata& metadata, const Architecture& architecture,
                 HyperParameters& hyper) {
  Latent& latent = hyper.latent;
  for (const Layer& layer : hyper.layers) {
    if (layer.attends()) latent.heads = layer.heads;
  }
  if (latent.heads == 0) {
    metadata.refuse("attention.head_count_kv", 0,
                    "must be above 0 in some layer");
  }
  // The default is an equal part of the width.
  const int64_t part =
      std::clamp<int64_t>(hyper.width / latent.heads, 1, kMaxHeadSize);
  const auto size = [&](const char* name, const char* old_name) {
    const std::optional<int64_t> old = metadata.find(old_name, 1, kMaxHeadSize);
    return metadata.find(name, 1, kMaxHeadSize).value_or(old.value_or(part));
  };
  const int64_t key = size("attention.key_length_mla", "attention.key_length");
  latent.value = size("attention.value_length_mla", "attention.value_length");
  latent.rank = metadata.get("attention.kv_lora_rank", 1, kMaxHeadSize);
  latent.query_rank =
      metadata.find("attention.q_lora_rank", 0, kMaxWidth).value_or(0);
  latent.rotated = metadata.get("rope.dimension_count", 2, kMaxHeadSize);
  if (latent.rotated >= key) {
    metadata.refuse("rope.dimension_count", latent.rotated,
                    cat("must be below the ", key, " elements of a key"));
  }
  latent.unrotated = key - latent.rotated;
  latent.log_multiplier =
      metadata.find_number("rope.scaling.yarn_log_multiplier", 0.0, 10.0)
          .value_or(0.0f);
  hyper.key_size = latent.rank + latent.rotated;
  hyper.value_size = latent.rank;
  for (Layer& layer : hyper.layers) {
    if (!layer.attends()) continue;
    if (layer.heads != latent.heads &&
        !architecture.latent.separate_for_windows) {
      metadata.refuse("attention.head_count", layer.heads,
                      "must be the same in all layers");
    }
    layer.kv_heads = 1;
  }
}

void read_window_latent(const Metadata& metadata, HyperParameters& hyper) {
  Latent& other = hyper.window_latent;
  const auto has_window = [](const Layer& layer) { return layer.window > 0; };
  if (std::ranges::any_of(hyper.layers, has_window)) {
    other = hyper.latent;
    other.rank = metadata.get("attention.kv_lora_rank_swa", 1, kMaxHeadSize);
    other.value =
        metadata.get("attention.value_length_mla_swa", 1, kMaxHeadSize);
    constexpr const char* kKey = "attention.key_length_mla_swa";
    const int64_t key = metadata.get(kKey, 1, kMaxHeadSize);
    if (key <= other.rotated) {
      metadata.refuse(
          kKey, key,
          cat("must be above the ", other.rotated, " elements that rotate"));
    }
    other.unrotated = key - other.rotated;
    // They follow from the others.
    metadata.find("attention.key_length_swa", 1, 2 * kMaxHeadSize);
    metadata.find("attention.value_length_swa", 1, kMaxHeadSize);
  }
  hyper.latent.heads = other.heads = 0;
  for (Layer& layer : hyper.layers) {
    Latent& latent = has_window(layer) ? other : hyper.latent;
    if (latent.heads == 0) latent.heads = layer.heads;
    if (latent.heads != layer.heads) {
      metadata.refuse("attention.head_count", layer.heads,
                      cat("must be the same in all layers ",
                          has_window(layer) ? "with" : "without",
                          " a window, of which one before has ", latent.heads));
    }
    layer.key_size = layer.value_size = latent.rank + latent.rotated;
  }
  if (hyper.latent.heads == 0) {
    metadata.refuse("attention.sliding_window_pattern", 1,
                    "some layer must see all positions");
  }
}

}  // namespace rc::model
