// Qwen 1: one matrix, with a bias, for queries, keys and values. Bai et al.
// 2023, arXiv:2309.16609.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kQwen = {
    .name = "qwen",
    .attention = {.qkv_bias = Presence::kAlways, .fused = Presence::kAlways},
    .feed_forward = {.gate_counted = true},
};

}  // namespace rc::model
