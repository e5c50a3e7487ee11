// InternLM 2 and 2.5: Llama. Cai et al. 2024, arXiv:2403.17297.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kInternLm2 = {
    .name = "internlm2",
    .rotary = {.style = RC_ROPE_ADJACENT},
    .attention = {.qkv_bias = Presence::kOptional,
                  .output_bias = Presence::kOptional},
};

}  // namespace rc::model
