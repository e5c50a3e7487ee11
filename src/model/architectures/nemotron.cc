// Nemotron 4 and Minitron: layer norms, and a squared rectifier. Parmar et al.
// 2024, arXiv:2402.16819.
//
// Its norms multiply by one plus the weight; files hold that sum.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kNemotron = {
    .name = "nemotron",
    .norm = Norm::kLayer,
    .qkv_bias = Presence::kOptional,
    .attention_output_bias = Presence::kOptional,
    .feed_forward_bias = Presence::kOptional,
    .gate = {.function = RC_FUNCTION_RELU,
             .ungated = true,
             .times_itself = true},
};

}  // namespace rc::model
