// Apertus: norms of queries and keys, and a feed-forward part without a gate
// whose function has parameters in each layer. Apertus team 2025,
// arXiv:2509.14233.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kApertus = {
    .name = "apertus",
    .rotary = {.factors = Presence::kOptional},
    .attention = {.qkv_bias = Presence::kOptional,
                  .output_bias = Presence::kOptional,
                  .head_norm = HeadNorm::kEach},
    .feed_forward = {.gate = {.ungated = true, .xielu = true}},
};

}  // namespace rc::model
