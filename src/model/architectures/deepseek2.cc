// DeepSeek V2 and V3 and what is made from them, such as GLM 4.7 Flash: latent
// attention, and experts that are chosen in groups. DeepSeek-AI 2024,
// arXiv:2405.04434 and arXiv:2412.19437.
#include <cmath>

#include "model/architectures/list.h"

namespace rc::model {
namespace {

// Yarn makes up for the flatter attention of long contexts here, once for
// queries and once for keys (Peng et al. 2023, arXiv:2309.00071, equation 22,
// with a factor of the logarithm that the file says).
double latent_scale(const HyperParameters& hyper) {
  const Latent& latent = hyper.latent;
  const double scale =
      1.0 / std::sqrt(static_cast<double>(latent.unrotated + latent.rotated));
  const RopeParameters& rope = hyper.ropes[0];
  if (rope.scaling != RopeScaling::kYarn || rope.factor <= 1.0f) return scale;
  const double raised = 1.0 + latent.log_multiplier * std::log(rope.factor);
  return scale * raised * raised;
}

}  // namespace

constexpr Architecture kDeepSeek2 = {
    .name = "deepseek2",
    .rotary = {.style = RC_ROPE_ADJACENT, .yarn_of_scores = true},
    .attention = {.scale = latent_scale},
    .latent = {.present = true},
    .experts = {.presence = Presence::kOptional,
                .biased_score = 2,
                .selection_bias = true,
                .grouped = true,
                .normalized = false,
                .shared = true},
};

namespace {

// With an indexer that chooses which positions a row sees.
constexpr Architecture indexed(std::string_view name) {
  Architecture made = kDeepSeek2;
  made.name = name;
  made.latent.indexed = true;
  made.experts.presence = Presence::kAlways;
  made.experts.biased_score = 0;
  made.experts.default_score = 2;
  return made;
}

}  // namespace

// DeepSeek V3.2.
constexpr Architecture kDeepSeek32 = indexed("deepseek32");
// GLM 5, of which some layers have an indexer.
constexpr Architecture kGlmDsa = indexed("glm-dsa");

}  // namespace rc::model
