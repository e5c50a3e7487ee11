// Kimi Linear: the delta rule whose states fade by the column, with every
// fourth layer latent attention in which nothing rotates, and experts with
// sigmoids for scores that are chosen with a bias. Kimi Team 2025,
// arXiv:2510.26692.
#include <cmath>

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
    .rotary = {.never = true},
    .attention = {.scale = scale_of_parts},
    .latent = {.present = true},
    .recurrence = {.mixer = Mixer::kColumnRule},
    .experts = {.presence = Presence::kAlways,
                .default_score = 2,
                .selection_bias = true,
                .shared = true},
};

}  // namespace rc::model
