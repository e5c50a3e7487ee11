// ERNIE 4.5 without experts: Llama, whose rows no converter permutes. Baidu
// 2025, https://yiyan.baidu.com/blog/publication/ERNIE_Technical_Report.pdf.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kErnie45 = {
    .name = "ernie4_5",
    .rotary = {.style = RC_ROPE_ADJACENT},
};

}  // namespace rc::model
