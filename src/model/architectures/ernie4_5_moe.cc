// ERNIE 4.5 with experts, which are chosen by their share and a bias; one more
// is always used. Baidu 2025,
// https://yiyan.baidu.com/blog/publication/ERNIE_Technical_Report.pdf.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kErnie45Moe = {
    .name = "ernie4_5-moe",
    .rotary = {.style = RC_ROPE_ADJACENT},
    .experts = {.presence = Presence::kAlways,
                .selection_bias = true,
                .shared = true},
};

}  // namespace rc::model
