// BitNet b1.58, with weights that are not packed.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr Rule kInnerNormRules[] = {
    {"model.layers.*.self_attn.attn_sub_norm.weight",
     "blk.*.attn_sub_norm.weight"},
    {"model.layers.*.mlp.ffn_sub_norm.weight", "blk.*.ffn_sub_norm.weight"},
};

void describe_bitnet(Description& model) {
  add_activation(model, "hidden_act", {"silu", "swish"});
  add_decoder(model);
}

}  // namespace

constexpr Architecture kBitNet = {
    .model_type = "bitnet",
    .name = "bitnet",
    .defaults = R"({"rms_norm_eps": 1e-5, "max_position_embeddings": 2048,
                    "num_key_value_heads": 5, "rope_theta": 5e5,
                    "hidden_act": "relu2", "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kAttentionRules, kNormRules, kInnerNormRules},
    .describe = describe_bitnet,
};

}  // namespace rc::folder
