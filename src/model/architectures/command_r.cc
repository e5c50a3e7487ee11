// Command R: attention and feed-forward read the same layer norm, which has no
// bias; Command R+ has norms of each head of queries and keys. Cohere 2024,
// https://huggingface.co/CohereForAI/c4ai-command-r-v01.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kCommandR = {
    .name = "command-r",
    .names = {.output = "token_embd.weight",
              .feed_forward_norm = "attn_norm.weight"},
    .norm = Norm::kLayerUnbiased,
    .head_norm = HeadNorm::kEachItsOwn,
    .optional_head_norm = true,
    .parallel_residual = Presence::kAlways,
    .rope_style = RC_ROPE_ADJACENT,
    .scale_keys = true,
    .logit_scale = LogitScale::kMultiplies,
};

}  // namespace rc::model
