// Mellum 2: Qwen 3 with experts in every layer, and windows, whose layers
// rotate without scaling. JetBrains 2026, https://huggingface.co/JetBrains.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kMellum = {
    .name = "mellum",
    .head_norm = HeadNorm::kEach,
    .window = {.period = 4, .windowed = 3},
    .local_rope = true,
    .experts = Presence::kAlways,
};

}  // namespace rc::model
