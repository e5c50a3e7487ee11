// Baichuan 1 and 2: Llama; the larger ones, which have 40 layers, have linear
// biases of attention in place of rotation. Baichuan Inc. 2023,
// arXiv:2309.10305.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kBaichuan = {
    .name = "baichuan",
    .defaults = {.alibi = 8.0f, .alibi_layers = 40},
    .position = {.alibi = Presence::kOptional},
    .rotary = {.style = RC_ROPE_ADJACENT},
};

}  // namespace rc::model
