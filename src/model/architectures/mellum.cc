// Mellum 2: Qwen 3 with experts in every layer, and windows, whose layers
// rotate without scaling. JetBrains 2026, https://huggingface.co/JetBrains.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kMellum = {
    .name = "mellum",
    .position = {.window = {.period = 4, .windowed = 3}},
    .rotary = {.separate_for_windows = true},
    .attention = {.head_norm = HeadNorm::kEach},
    .experts = {.presence = Presence::kAlways},
};

}  // namespace rc::model
