// StableLM: layer norms; the first part of each head rotates; files say whether
// attention and feed-forward read the same norm. Bellagente et al. 2024,
// arXiv:2402.17834.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kStableLm = {
    .name = "stablelm",
    .norm = {.kind = Norm::kLayer},
    .residual = {.parallel = Presence::kOptional},
    .attention = {.qkv_bias = Presence::kOptional,
                  .head_norm = HeadNorm::kEachItsOwn,
                  .optional_head_norm = true},
};

}  // namespace rc::model
