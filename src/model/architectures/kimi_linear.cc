// Kimi Linear: the delta rule whose states fade by the column, with every
// fourth layer latent attention in which nothing rotates, and experts with
// sigmoids for scores that are chosen with a bias. Kimi Team 2025,
// arXiv:2510.26692.
#include "model/architectures/list.h"

namespace rc::model {
namespace {

double scale_of_parts(const HyperParameters& hyper) {
  return 1.0 / std::sqrt(static_cast<double>(hyper.latent.unrotated +
                                             hyper.latent.rotated));
}

}  // namespace

constexpr Architecture kKimiLinear = {
    .name = "kimi-linear",
    .attention_scale = scale_of_parts,
    .latent = true,
    .recurrent = Mixer::kColumnRule,
    .unrotated = true,
    .experts = Presence::kAlways,
    .selection_bias = true,
    .default_scores = 2,
    .shared_expert = true,
};

}  // namespace rc::model
