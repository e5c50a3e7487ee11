// BERT, and the encoders of texts that are trained from it: all rows of a text
// see each other, norms follow the sums, and the rows of the last layer are
// what the model gives. Devlin et al. 2018, arXiv:1810.04805.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kBert = {
    .name = "bert",
    .names = {.post_attention_norm = "attn_output_norm.weight",
              .post_feed_forward_norm = "layer_output_norm.weight"},
    .causal = false,
    .gives_hidden_rows = true,
    .norm = Norm::kLayer,
    .norm_place = NormPlace::kOfSums,
    .learned_positions = true,
    .token_types = Presence::kOptional,
    .embedding_norm = true,
    .qkv_bias = Presence::kAlways,
    .attention_output_bias = Presence::kAlways,
    .feed_forward_bias = Presence::kAlways,
    .gate = {.function = RC_FUNCTION_GELU, .ungated = true},
    .names_activation = true,
};

}  // namespace rc::model
