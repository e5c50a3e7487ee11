#include "model/expert_parameters.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "model/limits.h"

namespace rc::model {
namespace {

void read_expert_groups(const Metadata& metadata, HyperParameters& hyper) {
  constexpr const char* kCount = "expert_group_count";
  constexpr const char* kUsed = "expert_group_used_count";
  hyper.expert_groups =
      std::max<int64_t>(1, metadata.find(kCount, 0, hyper.experts).value_or(1));
  hyper.expert_groups_used =
      std::max<int64_t>(1, metadata.find(kUsed, 0, hyper.expert_groups)
                               .value_or(hyper.expert_groups));
  if (hyper.experts % hyper.expert_groups != 0) {
    metadata.refuse(kCount, hyper.expert_groups,
                    cat("must divide the ", hyper.experts, " experts"));
  }
  const int64_t most =
      hyper.experts / hyper.expert_groups * hyper.expert_groups_used;
  if (hyper.experts_used > most) {
    metadata.refuse(kUsed, hyper.expert_groups_used,
                    cat("has ", most, " experts, of which ", hyper.experts_used,
                        " cannot be used"));
  }
}

// The kind of scores in a file that does not contain it.
int64_t default_score(const gguf::File& file,
                      const Architecture& architecture) {
  if (architecture.experts.biased_score == 0) {
    return architecture.experts.default_score;
  }
  const std::string end = cat(".", architecture.names.selection_bias);
  const bool biased = std::ranges::any_of(
      file.tensors(),
      [&](const gguf::Tensor& tensor) { return tensor.name.ends_with(end); });
  return biased ? architecture.experts.biased_score
                : architecture.experts.default_score;
}

// Files may say that of each so many layers the second one has experts.
void check_routers(const Metadata& metadata, const HyperParameters& hyper) {
  constexpr const char* kEvery = "moe_every_n_layers";
  const int64_t every = metadata.find(kEvery, 0, kMaxLayers).value_or(0);
  for (int64_t i = 0; every > 0 && i < hyper.layer_count(); ++i) {
    const bool experts = hyper.layers[static_cast<size_t>(i)].experts;
    if (experts != (i % every == 1)) {
      metadata.refuse(
          kEvery, every,
          cat("layer ", i, " has ", experts ? "a" : "no", " router"));
    }
  }
}

}  // namespace

void read_experts(const Metadata& metadata, const Architecture& architecture,
                  HyperParameters& hyper) {
  hyper.experts_used = metadata.get("expert_used_count", 1, hyper.experts);
  hyper.expert_feed_forward =
      metadata.find("expert_feed_forward_length", 1, kMaxFeedForward)
          .value_or(0);
  if (hyper.expert_feed_forward == 0) {
    hyper.expert_feed_forward =
        metadata.get("feed_forward_length", 1, kMaxFeedForward);
  }
  if (architecture.experts.shared) {
    const int64_t count = metadata.find("expert_shared_count", 0, kMaxExperts)
                              .value_or(architecture.defaults.shared_experts);
    if (count * hyper.expert_feed_forward > kMaxFeedForward) {
      metadata.refuse("expert_shared_count", count,
                      cat("experts of ", hyper.expert_feed_forward,
                          " together are larger than ", kMaxFeedForward));
    }
    hyper.shared_feed_forward =
        metadata.find("expert_shared_feed_forward_length", 0, kMaxFeedForward)
            .value_or(count * hyper.expert_feed_forward);
  }
  if (architecture.experts.weighted_inputs && hyper.experts_used != 1) {
    fail(RC_E_UNSUPPORTED, metadata.file().name(), ": ",
         metadata.key("expert_used_count"), " is ", hyper.experts_used,
         ", but models of architecture ", architecture.name,
         " can only be computed with 1");
  }
  hyper.normalized_routing = architecture.experts.normalized;
  if (!architecture.experts.weighted_inputs &&
      !architecture.experts.sparse_mix) {
    hyper.normalized_routing = metadata.find_flag("expert_weights_norm")
                                   .value_or(architecture.experts.normalized);
    hyper.expert_scale =
        metadata.find_positive("expert_weights_scale", 1e-6, 1e6)
            .value_or(1.0f);
  }
  if (architecture.experts.latent) {
    hyper.expert_width =
        metadata.find("moe_latent_size", 0, kMaxWidth).value_or(0);
  }
  if (!architecture.experts.selection_bias) return;
  // GGUF's numbers are 0 for none that is said, 1 for softmax and 2 for
  // sigmoid.
  int64_t score = metadata.find("expert_gating_func", 0, 2).value_or(0);
  if (score == 0) score = default_score(metadata.file(), architecture);
  hyper.expert_score = score == 2 ? RC_SCORE_SIGMOID : RC_SCORE_SOFTMAX;
  read_expert_groups(metadata, hyper);
}

namespace {

// Layers of one part: those with a router have experts, others with a
// feed-forward part a dense one.
void place_single_parts(const Metadata& metadata,
                        const Architecture& architecture,
                        HyperParameters& hyper) {
  const auto sizes = metadata.get_each("feed_forward_length", 0,
                                       kMaxFeedForward, hyper.layer_count());
  for (size_t i = 0; i < sizes.size(); ++i) {
    Layer& layer = hyper.layers[i];
    layer.experts =
        metadata.file().find_tensor(cat(
            "blk.", i, ".", architecture.names.router, ".weight")) != nullptr;
    layer.feed_forward = layer.experts ? 0 : sizes[i];
    if (sizes[i] == 0 && !layer.experts) continue;
    if (layer.attends()) {
      metadata.refuse("feed_forward_length", sizes[i],
                      cat("layer ", i, " has attention, so it must be 0"));
    }
    layer.mixer = Mixer::kNone;
  }
}

}  // namespace

void place_experts(const Metadata& metadata, const Architecture& architecture,
                   HyperParameters& hyper) {
  if (architecture.residual.single_parts) {
    return place_single_parts(metadata, architecture, hyper);
  }
  if (architecture.experts.beside_dense) {
    const auto sizes = metadata.get_each("feed_forward_length", 1,
                                         kMaxFeedForward, hyper.layer_count());
    for (size_t i = 0; i < sizes.size(); ++i) {
      hyper.layers[i].experts = true;
      hyper.layers[i].feed_forward = sizes[i];
    }
    return;
  }
  const int64_t first =
      metadata.find("leading_dense_block_count", 0, kMaxLayers).value_or(0);
  const int64_t step = std::max<int64_t>(
      1, metadata.find("interleave_moe_layer_step", 0, kMaxLayers).value_or(1));
  const bool dense =
      first > 0 || step > 1 || architecture.experts.optional_routers;
  const int64_t size =
      dense ? metadata.get("feed_forward_length", 1, kMaxFeedForward) : 0;
  for (int64_t i = 0; i < hyper.layer_count(); ++i) {
    Layer& layer = hyper.layers[i];
    layer.experts = i >= first && (i + 1) % step == 0;
    if (architecture.experts.optional_routers) {
      layer.experts =
          metadata.file().find_tensor(cat(
              "blk.", i, ".", architecture.names.router, ".weight")) != nullptr;
    }
    if (!layer.experts) layer.feed_forward = size;
  }
  if (architecture.experts.optional_routers) check_routers(metadata, hyper);
}

}  // namespace rc::model
