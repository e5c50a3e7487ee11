// Nemotron 4 and Minitron: layer norms, and a squared rectifier. Parmar et al.
// 2024, arXiv:2402.16819.
//
// Its norms multiply by one plus the weight; files hold that sum.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kNemotron = {
    .name = "nemotron",
    .norm = {.kind = Norm::kLayer},
    .attention = {.qkv_bias = Presence::kOptional,
                  .output_bias = Presence::kOptional},
    .feed_forward = {.gate = {.function = RC_FUNCTION_RELU,
                              .ungated = true,
                              .times_itself = true},
                     .bias = Presence::kOptional},
};

}  // namespace rc::model
