// gpt-oss: attention with sinks, every other layer within a window, and experts
// with biases in every layer. OpenAI 2025, arXiv:2508.10925.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kGptOss = {
    .name = "gpt-oss",
    .names = {.feed_forward_norm = "post_attention_norm.weight"},
    .qkv_bias = Presence::kAlways,
    .attention_output_bias = Presence::kAlways,
    .attention_sinks = Presence::kAlways,
    .whole_yarn_pairs = false,
    .window = {.period = 2, .windowed = 1},
    .gate = {.function = RC_FUNCTION_GELU_QUICK, .limit = 7.0f, .offset = 1.0f},
    .experts = Presence::kAlways,
    .expert_bias = true,
};

}  // namespace rc::model
