// Qwen 3: norms on queries and keys instead of biases. Yang et al. 2025,
// arXiv:2505.09388.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kQwen3 = {
    .name = "qwen3",
    .attention = {.head_norm = HeadNorm::kEach},
};

}  // namespace rc::model
