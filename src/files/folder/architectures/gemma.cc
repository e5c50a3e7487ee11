// Gemma. Its norms multiply by one plus what folders hold.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr Rule kGemmaRules[] = {
    {"model.norm.weight", "output_norm.weight", plus_one},
    {"model.layers.*.input_layernorm.weight", "blk.*.attn_norm.weight",
     plus_one},
    {"model.layers.*.post_attention_layernorm.weight", "blk.*.ffn_norm.weight",
     plus_one},
};

void describe_gemma(Description& model) {
  // The first folders say "gelu" and have always been computed with tanh.
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"gelu_pytorch_tanh", "gelu"});
  expect_text(config, "hidden_activation", {"gelu_pytorch_tanh"});
  add_decoder(model);
}

}  // namespace

constexpr Architecture kGemma = {
    .model_type = "gemma",
    .name = "gemma",
    .defaults = R"({"num_key_value_heads": 16, "rms_norm_eps": 1e-6,
                    "head_dim": 256, "max_position_embeddings": 8192,
                    "tie_word_embeddings": true})",
    .rules = {kDecoderRules, kAttentionRules, kGemmaRules},
    .describe = describe_gemma,
};

}  // namespace rc::folder
