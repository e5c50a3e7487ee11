// Qwen 2 and 2.5: Llama with biases. Yang et al. 2024, arXiv:2407.10671.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kQwen2 = {
    .name = "qwen2",
    .attention = {.qkv_bias = Presence::kAlways},
};

}  // namespace rc::model
