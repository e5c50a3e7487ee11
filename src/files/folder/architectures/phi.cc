// Phi 1, 1.5 and 2.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr Rule kPhiRules[] = {
    {"lm_head.bias", "output.bias"},
    {"model.final_layernorm.@", "output_norm.@"},
    {"model.layers.*.input_layernorm.@", "blk.*.attn_norm.@"},
    {"model.layers.*.self_attn.dense.@", "blk.*.attn_output.@"},
    {"model.layers.*.mlp.fc1.@", "blk.*.ffn_up.@"},
    {"model.layers.*.mlp.fc2.@", "blk.*.ffn_down.@"},
};

void describe_phi(Description& model) {
  const Config& config = model.config();
  add_activation(model, "hidden_act",
                 {"gelu_new", "gelu_pytorch_tanh", "gelu_fast"});
  expect_flag(config, "qk_layernorm", false);
  add_decoder(model, {.layer_norm = "layer_norm_eps",
                      .rotated_part = "partial_rotary_factor"});
}

}  // namespace

constexpr Architecture kPhi = {
    .model_type = "phi",
    .name = "phi2",
    .defaults = R"({"layer_norm_eps": 1e-5, "max_position_embeddings": 2048,
                    "partial_rotary_factor": 0.5,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kAttentionRules, kPhiRules},
    .describe = describe_phi,
};

}  // namespace rc::folder
