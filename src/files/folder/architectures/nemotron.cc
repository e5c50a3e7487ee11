// Nemotron. Its norms multiply by one plus what folders hold.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr Rule kNemotronRules[] = {
    {"model.norm.weight", "output_norm.weight", plus_one},
    {"model.norm.bias", "output_norm.bias"},
    {"model.layers.*.input_layernorm.weight", "blk.*.attn_norm.weight",
     plus_one},
    {"model.layers.*.input_layernorm.bias", "blk.*.attn_norm.bias"},
    {"model.layers.*.post_attention_layernorm.weight", "blk.*.ffn_norm.weight",
     plus_one},
    {"model.layers.*.post_attention_layernorm.bias", "blk.*.ffn_norm.bias"},
};

void describe_nemotron(Description& model) {
  expect_text(model.config(), "hidden_act", {"relu2"});
  add_decoder(model, {.layer_norm = "norm_eps",
                      .rotated_part = "partial_rotary_factor"});
}

}  // namespace

constexpr Architecture kNemotron = {
    .model_type = "nemotron",
    .name = "nemotron",
    .defaults = R"({"norm_eps": 1e-5, "max_position_embeddings": 4096,
                    "partial_rotary_factor": 0.5, "hidden_act": "relu2",
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kAttentionRules, kNemotronRules},
    .describe = describe_nemotron,
};

}  // namespace rc::folder
