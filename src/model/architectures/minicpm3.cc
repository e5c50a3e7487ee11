// MiniCPM 3: the factors of MiniCPM, which files need not say, and the latent
// attention of DeepSeek V2. OpenBMB 2024,
// https://huggingface.co/openbmb/MiniCPM3-4B.
#include <cmath>

#include "model/architectures/list.h"

namespace rc::model {
namespace {

double latent_head_scale(const HyperParameters& hyper) {
  const Latent& latent = hyper.latent;
  return 1.0 /
         std::sqrt(static_cast<double>(latent.unrotated + latent.rotated));
}

}  // namespace

constexpr Architecture kMiniCpm3 = {
    .name = "minicpm3",
    .defaults = {.embedding_scale = 12.0f,
                 .residual_depth = 1.4f,
                 .logit_width = 256},
    .scale_keys = true,
    .rotary = {.long_factors = true},
    .attention = {.scale = latent_head_scale},
    .latent = {.present = true, .joint = true},
};

}  // namespace rc::model
