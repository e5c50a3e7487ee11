// SmolLM 3: Llama, of which every fourth layer does not rotate. Hugging Face
// 2025, https://huggingface.co/blog/smollm3; Yang et al. 2025,
// arXiv:2501.18795.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kSmolLm3 = {
    .name = "smollm3",
    .rotary = {.style = RC_ROPE_ADJACENT, .unrotated_every = 4},
};

}  // namespace rc::model
