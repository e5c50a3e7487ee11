// Seed-OSS: Llama with biases on queries, keys and values. ByteDance 2025,
// https://github.com/ByteDance-Seed/seed-oss.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kSeedOss = {
    .name = "seed_oss",
    .names = {.feed_forward_norm = "post_attention_norm.weight"},
    .attention = {.qkv_bias = Presence::kOptional},
};

}  // namespace rc::model
