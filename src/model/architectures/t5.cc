// T5: an encoder reads a source, and the layers that generate attend to its
// rows. Raffel et al. 2019, arXiv:1910.10683. T5 v1.0 has a rectifier without a
// gate, and logits from the embedding table; T5 v1.1, and mT5 (Xue et al. 2020,
// arXiv:2010.11934), UMT5 (Chung et al. 2023, arXiv:2304.09151) and Flan-T5
// after it, have a gate, and most an output matrix. The encoder alone is an
// architecture too, and gives the embeddings of the whole.
#include "model/architectures/list.h"

namespace rc::model {
namespace {

constexpr Architecture encoder(std::string_view name) {
  return {
      .name = name,
      .names = {.layer = "enc.blk.",
                .output_norm = "enc.output_norm.weight",
                .attention_output = "attn_o"},
      .position = {.relative_bias = true},
      .rotary = {.never = true},
      .attention = {.causal = false, .scale = scale_of_one},
      .feed_forward = {.gate = {.function = RC_FUNCTION_GELU_TANH,
                                .optional = true}},
      .output = {.hidden_rows = true, .normed_hidden_rows = true},
  };
}

constexpr auto kT5Source = encoder("t5");

}  // namespace

constexpr Architecture kT5Encoder = encoder("t5encoder");

constexpr Architecture kT5 = {
    .name = "t5",
    .source = &kT5Source,
    .names = {.layer = "dec.blk.",
              .output_norm = "dec.output_norm.weight",
              .attention_output = "attn_o"},
    .position = {.relative_bias = true},
    .rotary = {.never = true},
    .attention = {.scale = scale_of_one},
    .feed_forward = {.gate = {.function = RC_FUNCTION_GELU_TANH,
                              .optional = true}},
    .output = {.scaled_if_tied = true},
};

}  // namespace rc::model
