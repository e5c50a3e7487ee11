// Hunyuan without experts: norms of queries and keys that have been rotated.
// Tencent 2025, https://github.com/Tencent-Hunyuan/Hunyuan-7B.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kHunyuanDense = {
    .name = "hunyuan-dense",
    .attention = {.head_norm = HeadNorm::kRotated},
};

}  // namespace rc::model
