// LFM2 with experts, chosen by sigmoids and a bias, behind the first layers.
// Liquid AI 2025, arXiv:2511.23404.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kLfm2Moe = {
    .name = "lfm2moe",
    .names = {.output_norm = "token_embd_norm.weight",
              .output = "token_embd.weight"},
    .attention = {.head_norm = HeadNorm::kEach},
    .recurrence = {.mixer = Mixer::kShortConv},
    .experts = {.presence = Presence::kAlways, .selection_bias = true},
};

}  // namespace rc::model
