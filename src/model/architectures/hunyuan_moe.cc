// Hunyuan with experts, of which one is always used. Tencent 2025,
// https://github.com/Tencent-Hunyuan/Hunyuan-A13B.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kHunyuanMoe = {
    .name = "hunyuan-moe",
    .attention = {.head_norm = HeadNorm::kRotated},
    .experts = {.presence = Presence::kAlways, .shared = true},
};

}  // namespace rc::model
