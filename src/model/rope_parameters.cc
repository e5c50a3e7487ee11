#include "model/rope_parameters.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/quote.h"
#include "model/architecture.h"
#include "model/limits.h"

namespace rc::model {
namespace {

constexpr double kMaxBase = 1e15;
constexpr double kMaxFactor = 1e6;

// The scaling's type. Files older than the key for it scale linearly.
RopeScaling read_scaling(const Metadata& metadata) {
  const std::optional<std::string_view> type =
      metadata.find_text("rope.scaling.type");
  if (!type || *type == "linear") return RopeScaling::kLinear;
  // The factors of "longrope" are tensors.
  if (*type == "none" || *type == "longrope") return RopeScaling::kNone;
  if (*type == "yarn") return RopeScaling::kYarn;
  if (*type == "llama3") return RopeScaling::kLlama3;
  fail(RC_E_UNSUPPORTED, metadata.file().name(), ": ",
       metadata.key("rope.scaling.type"), " is ", quote(*type),
       "; known are none, linear, longrope, yarn, llama3");
}

// By how much the scale of cosine and sine differs from that of yarn's own
// formula.
float read_attention_factor(const Metadata& metadata,
                            const Architecture& architecture,
                            const RopeParameters& rope) {
  const float relative =
      metadata.find_positive("rope.scaling.attn_factor", 1e-3, 1e3)
          .value_or(1.0f);
  // The whole scale, in place of that of the formula: what folders call
  // attention_factor.
  const std::optional<float> whole =
      metadata.find_positive("rope.scaling.yarn_attn_factor", 1e-3, 1e3);
  // Of the factor's logarithm, in what the usual scale is divided by.
  float weight = 0.0f;
  if (architecture.rotary.yarn_logarithms) {
    weight = metadata.find_number("rope.scaling.yarn_log_multiplier", 0.0, 1e3)
                 .value_or(0.0f);
  }
  if (rope.scaling != RopeScaling::kYarn) return relative;
  const float logarithm = 0.1f * std::log(std::max(1.0f, rope.factor));
  if (!whole) return relative / (1.0f + weight * logarithm);
  return rope.yarn_scales ? relative * *whole / (1.0f + logarithm)
                          : relative * *whole;
}

RopeParameters read_rope(const Metadata& metadata,
                         const Architecture& architecture,
                         const HyperParameters& hyper) {
  RopeParameters rope;
  rope.whole_yarn_pairs = architecture.rotary.whole_yarn_pairs;
  rope.yarn_scales = !architecture.rotary.yarn_of_scores;
  rope.dimensions =
      architecture.latent.present
          ? hyper.latent.rotated
          : metadata.find("rope.dimension_count", 2, hyper.key_size)
                .value_or(hyper.key_size);
  const int64_t parts = architecture.rotary.half_without_window ? 2 : 1;
  if (rope.dimensions % (2 * parts) != 0) {
    metadata.refuse("rope.dimension_count", rope.dimensions,
                    parts == 1 ? "must be even" : "must be a multiple of 4");
  }
  rope.dimensions /= parts;
  rope.base = metadata.find_number("rope.freq_base", 1.001, kMaxBase)
                  .value_or(rope.base);

  rope.scaling = read_scaling(metadata);
  const std::optional<float> old_factor =
      metadata.find_positive("rope.scale_linear", 1e-3, kMaxFactor);
  rope.factor = metadata.find_positive("rope.scaling.factor", 1e-3, kMaxFactor)
                    .value_or(old_factor.value_or(1.0f));
  if (rope.factor == 1.0f && rope.scaling == RopeScaling::kLinear) {
    rope.scaling = RopeScaling::kNone;
  }
  rope.original_context =
      metadata.find("rope.scaling.original_context_length", 1, kMaxContext)
          .value_or(hyper.context_length);

  rope.attention_factor = read_attention_factor(metadata, architecture, rope);
  rope.yarn_beta_fast =
      metadata.find_number("rope.scaling.yarn_beta_fast", 1e-3, kMaxFactor)
          .value_or(rope.yarn_beta_fast);
  rope.yarn_beta_slow =
      metadata.find_number("rope.scaling.yarn_beta_slow", 1e-3, kMaxFactor)
          .value_or(rope.yarn_beta_slow);
  rope.yarn_extrapolation =
      metadata.find_number("rope.scaling.yarn_ext_factor", 0.0, 1.0)
          .value_or(rope.yarn_extrapolation);

  rope.low_frequency =
      metadata.find_number("rope.scaling.low_freq_factor", 1e-3, kMaxFactor)
          .value_or(rope.low_frequency);
  rope.high_frequency =
      metadata.find_number("rope.scaling.high_freq_factor", 1e-3, kMaxFactor)
          .value_or(rope.high_frequency);
  if (rope.high_frequency <= rope.low_frequency) {
    metadata.refuse("rope.scaling.high_freq_factor", rope.high_frequency,
                    cat("must be above low_freq_factor, ", rope.low_frequency));
  }
  return rope;
}

}  // namespace

void read_ropes(const Metadata& metadata, const Architecture& architecture,
                HyperParameters& hyper) {
  const bool no_attention =
      std::none_of(hyper.layers.begin(), hyper.layers.end(),
                   [](const Layer& layer) { return layer.attends(); });
  if (architecture.embedding.learned_positions || hyper.alibi > 0.0f ||
      no_attention) {
    for (Layer& layer : hyper.layers) layer.rope = Layer::kUnrotated;
    return;
  }
  hyper.ropes = {read_rope(metadata, architecture, hyper)};
  const bool has_windows =
      std::any_of(hyper.layers.begin(), hyper.layers.end(),
                  [](const Layer& layer) { return layer.window > 0; });
  if (architecture.rotary.separate_for_windows && has_windows) {
    RopeParameters local;
    local.dimensions = hyper.ropes[0].dimensions *
                       (architecture.rotary.half_without_window ? 2 : 1);
    if (architecture.attention.separate_window_heads) {
      const auto windowed =
          std::find_if(hyper.layers.begin(), hyper.layers.end(),
                       [](const Layer& layer) { return layer.window > 0; });
      local.dimensions =
          metadata.find("rope.dimension_count_swa", 2, windowed->key_size)
              .value_or(windowed->key_size);
      if (local.dimensions % 2 != 0) {
        metadata.refuse("rope.dimension_count_swa", local.dimensions,
                        "must be even");
      }
    }
    const float base = architecture.rotary.window_base;
    local.base = metadata.find_number("rope.freq_base_swa", 1.001, kMaxBase)
                     .value_or(base > 0.0f ? base : hyper.ropes[0].base);
    hyper.ropes.push_back(local);
  }
  if (architecture.rotary.separate_for_windows && !has_windows) {
    // No layer has them.
    metadata.find_number("rope.freq_base_swa", 1.001, kMaxBase);
    if (architecture.attention.separate_window_heads) {
      metadata.find("rope.dimension_count_swa", 2, kMaxHeadSize);
    }
  }
  if (architecture.rotary.never ||
      (architecture.rotary.optional &&
       metadata.find_flag("rope.scaling.finetuned") == false)) {
    hyper.ropes.clear();
    for (Layer& layer : hyper.layers) layer.rope = Layer::kUnrotated;
    return;
  }
  const int64_t every = architecture.rotary.unrotated_every;
  std::optional<std::vector<int64_t>> rotated;
  if (architecture.rotary.pattern) {
    rotated =
        metadata.find_each("attention.rope_pattern", 0, 1, hyper.layer_count());
  }
  const int64_t first_rotating =
      architecture.rotary.dense_layers
          ? metadata.find("leading_dense_block_count", 0, kMaxLayers)
                .value_or(0)
          : 0;
  for (size_t i = 0; i < hyper.layers.size(); ++i) {
    Layer& layer = hyper.layers[i];
    const bool sees_all = layer.window == 0 && hyper.sliding_window > 0 &&
                          static_cast<int64_t>(i) >= first_rotating;
    if ((rotated && (*rotated)[i] == 0) ||
        (every > 0 && static_cast<int64_t>(i + 1) % every == 0) ||
        (architecture.rotary.only_windows && sees_all)) {
      layer.rope = Layer::kUnrotated;
    } else {
      layer.rope = hyper.ropes.size() > 1 && layer.window > 0 ? 1 : 0;
    }
  }
}

}  // namespace rc::model
