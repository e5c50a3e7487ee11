// BERT, and the encoders of texts that are trained from it: all rows of a text
// see each other, norms follow the sums, and the rows of the last layer are
// what the model gives. Devlin et al. 2018, arXiv:1810.04805.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kBert = {
    .name = "bert",
    .names = {.post_attention_norm = "attn_output_norm.weight",
              .post_feed_forward_norm = "layer_output_norm.weight"},
    .embedding = {.learned_positions = true,
                  .token_types = Presence::kOptional,
                  .norm = true},
    .norm = {.kind = Norm::kLayer, .place = NormPlace::kOfSums},
    .attention = {.causal = false,
                  .qkv_bias = Presence::kAlways,
                  .output_bias = Presence::kAlways},
    .feed_forward = {.gate = {.function = RC_FUNCTION_GELU, .ungated = true},
                     .bias = Presence::kAlways,
                     .names_activation = true},
    .output = {.hidden_rows = true},
};

}  // namespace rc::model
