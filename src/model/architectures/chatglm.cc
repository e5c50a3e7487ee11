// ChatGLM 2 and 3, GLM 4 of 2024: one matrix for the gate and what it gates;
// half of a head rotates. Zeng et al. 2024, arXiv:2406.12793.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kChatGlm = {
    .name = "chatglm",
    .rotary = {.style = RC_ROPE_ADJACENT},
    .attention = {.qkv_bias = Presence::kOptional,
                  .fused = Presence::kOptional},
    .feed_forward = {.gate = {.fused = true}},
};

}  // namespace rc::model
