// StarCoder 2.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr Rule kStarCoder2Rules[] = {
    {"model.layers.*.mlp.c_fc.@", "blk.*.ffn_up.@"},
    {"model.layers.*.mlp.c_proj.@", "blk.*.ffn_down.@"},
};

void describe_starcoder2(Description& model) {
  add_activation(model, "hidden_act",
                 {"gelu_new", "gelu_pytorch_tanh", "gelu_fast"});
  add_decoder(model, {.layer_norm = "norm_epsilon"});
  add_window(model);
}

}  // namespace

constexpr Architecture kStarCoder2 = {
    .model_type = "starcoder2",
    .name = "starcoder2",
    .defaults = R"({"norm_epsilon": 1e-5, "max_position_embeddings": 4096,
                    "num_key_value_heads": 2,
                    "hidden_act": "gelu_pytorch_tanh",
                    "tie_word_embeddings": true})",
    .rules = {kDecoderRules, kAttentionRules, kLayerNormRules,
              kStarCoder2Rules},
    .describe = describe_starcoder2,
};

}  // namespace rc::folder
