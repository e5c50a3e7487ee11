// Gemma. Mesnard et al. 2024, arXiv:2403.08295.
//
// Its norms multiply by one plus the weight; files hold that sum.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kGemma = {
    .name = "gemma",
    .names = {.output = "token_embd.weight"},
    .embedding = {.scaled = true},
    .feed_forward = {.gate = {.function = RC_FUNCTION_GELU_TANH}},
};

}  // namespace rc::model
