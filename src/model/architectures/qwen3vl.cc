// The text part of Qwen 3 VL: Qwen 3, dense and with experts in every layer.
// Bai et al. 2025, arXiv:2511.21631.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kQwen3Vl = {
    .name = "qwen3vl",
    .attention = {.head_norm = HeadNorm::kEach},
};

constexpr Architecture kQwen3VlMoe = {
    .name = "qwen3vlmoe",
    .attention = {.head_norm = HeadNorm::kEach},
    .experts = {.presence = Presence::kAlways},
};

}  // namespace rc::model
