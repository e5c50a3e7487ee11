// Hunyuan with experts, of which one is always used. Tencent 2025,
// https://github.com/Tencent-Hunyuan/Hunyuan-A13B.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kHunyuanMoe = {
    .name = "hunyuan-moe",
    .head_norm = HeadNorm::kRotated,
    .experts = Presence::kAlways,
    .shared_expert = true,
};

}  // namespace rc::model
