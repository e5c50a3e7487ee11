// GLM 4 of 2025: norms around attention and feed-forward; half of a head
// rotates. Zeng et al. 2024, arXiv:2406.12793.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kGlm4 = {
    .name = "glm4",
    .norm = {.place = NormPlace::kAround},
    .rotary = {.style = RC_ROPE_ADJACENT},
    .attention = {.qkv_bias = Presence::kOptional,
                  .fused = Presence::kOptional},
    .feed_forward = {.gate = {.fused = true}},
};

}  // namespace rc::model
