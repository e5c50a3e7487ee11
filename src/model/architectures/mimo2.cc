// MiMo V2: values shorter than keys, of which a part rotates; layers with a
// window have other key/value heads, sinks and another base; experts with
// sigmoids for scores are chosen with a bias, and layers without a router are
// dense. Xiaomi 2026, https://huggingface.co/XiaomiMiMo/MiMo-V2-Flash.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kMiMo2 = {
    .name = "mimo2",
    .position = {.window = {.period = 6, .windowed = 5}},
    .rotary = {.separate_for_windows = true},
    .attention = {.fused = Presence::kOptional,
                  .sinks = Presence::kOptional,
                  .separate_value_size = true,
                  .value_scale = true},
    .experts = {.presence = Presence::kAlways,
                .optional_routers = true,
                .default_score = 2,
                .selection_bias = true},
};

}  // namespace rc::model
