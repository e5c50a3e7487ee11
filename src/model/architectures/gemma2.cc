// Gemma 2. Riviere et al. 2024, arXiv:2408.00118.
//
// Its norms multiply by one plus the weight; files hold that sum.
#include "model/architectures/list.h"

namespace rc::model {
namespace {

// The model of 46 layers (27B) scales by the width per head, the others by the
// size of a head; no metadata key tells.
double attention_scale(const HyperParameters& hyper) {
  if (hyper.layers != 46) return scale_of_key_size(hyper);
  return 1.0 / std::sqrt(static_cast<double>(hyper.width) /
                         static_cast<double>(hyper.heads));
}

}  // namespace

constexpr Architecture kGemma2 = {
    .name = "gemma2",
    .defaults = {.attention_softcap = 50.0f,
                 .final_softcap = 30.0f,
                 .sliding_window = 4096},
    .scaled_embedding = true,
    .window = WindowPattern::kEvenLayers,
    .attention_scale = attention_scale,
    .sandwich_norms = true,
    .gate = {.function = RC_FUNCTION_GELU_TANH},
};

}  // namespace rc::model
