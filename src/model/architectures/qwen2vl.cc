// The text part of Qwen 2 VL and 2.5 VL: Qwen 2, since the places in pictures
// that parts of a head rotate by are all the position in a text. Bai et al.
// 2025, arXiv:2502.13923.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kQwen2Vl = {
    .name = "qwen2vl",
    .attention = {.qkv_bias = Presence::kAlways},
};

}  // namespace rc::model
