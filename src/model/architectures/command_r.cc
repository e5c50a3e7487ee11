// Command R: attention and feed-forward read the same layer norm, which has no
// bias; Command R+ has norms of each head of queries and keys. Cohere 2024,
// https://huggingface.co/CohereForAI/c4ai-command-r-v01.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kCommandR = {
    .name = "command-r",
    .names = {.output = "token_embd.weight",
              .feed_forward_norm = "attn_norm.weight"},
    .scale_keys = true,
    .norm = {.kind = Norm::kLayerUnbiased},
    .residual = {.parallel = Presence::kAlways},
    .rotary = {.style = RC_ROPE_ADJACENT},
    .attention = {.head_norm = HeadNorm::kEachItsOwn,
                  .optional_head_norm = true},
    .output = {.logit_scale = LogitScale::kMultiplies},
};

}  // namespace rc::model
