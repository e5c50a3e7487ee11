// XVERSE: Llama. Shenzhen Yuanxiang Technology 2023,
// https://huggingface.co/xverse.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kXverse = {
    .name = "xverse",
    .rotary = {.style = RC_ROPE_ADJACENT},
};

}  // namespace rc::model
