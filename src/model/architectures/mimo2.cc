// MiMo V2: values shorter than keys, of which a part rotates; layers with a
// window have other key/value heads, sinks and another base; experts with
// sigmoids for scores are chosen with a bias, and layers without a router are
// dense. Xiaomi 2026, https://huggingface.co/XiaomiMiMo/MiMo-V2-Flash.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kMiMo2 = {
    .name = "mimo2",
    .fused_attention = Presence::kOptional,
    .attention_sinks = Presence::kOptional,
    .window = {.period = 6, .windowed = 5},
    .local_rope = true,
    .own_value_size = true,
    .value_scale = true,
    .experts = Presence::kAlways,
    .optional_routers = true,
    .selection_bias = true,
    .default_scores = 2,
};

}  // namespace rc::model
