// BitNet b1.58: Llama whose weights have three values, with norms of what its
// last products read. Ma et al. 2024, arXiv:2402.17764.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kBitNet = {
    .name = "bitnet",
    .norm = {.inner = true},
    .feed_forward = {.names_activation = true},
};

}  // namespace rc::model
