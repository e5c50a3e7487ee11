// MiniMax Text 01 and M1: lightning attention, with every eighth layer
// attention, and experts; parts add to the normed row that they read. MiniMax
// 2025, arXiv:2501.08313.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kMiniMax01 = {
    .name = "minimax-01",
    .defaults = {.attention_interval = 8},
    .residual = {.normed = true},
    .recurrence = {.mixer = Mixer::kLightning, .attention_interval = true},
    .experts = {.presence = Presence::kAlways},
};

}  // namespace rc::model
