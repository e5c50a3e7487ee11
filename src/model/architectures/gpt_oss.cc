// gpt-oss: attention with sinks, every other layer within a window, and experts
// with biases in every layer. OpenAI 2025, arXiv:2508.10925.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kGptOss = {
    .name = "gpt-oss",
    .names = {.feed_forward_norm = "post_attention_norm.weight"},
    .position = {.window = {.period = 2, .windowed = 1}},
    .rotary = {.whole_yarn_pairs = false},
    .attention = {.qkv_bias = Presence::kAlways,
                  .output_bias = Presence::kAlways,
                  .sinks = Presence::kAlways},
    .feed_forward = {.gate = {.function = RC_FUNCTION_GELU_QUICK,
                              .limit = 7.0f,
                              .offset = 1.0f}},
    .experts = {.presence = Presence::kAlways, .bias = true},
};

}  // namespace rc::model
