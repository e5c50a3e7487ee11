// Mixtral: Mistral with experts in every layer.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr Rule kMixtralRules[] = {
    {"model.layers.*.block_sparse_moe.gate.weight",
     "blk.*.ffn_gate_inp.weight"},
    {"model.layers.*.block_sparse_moe.experts.*.w1.weight",
     "blk.*.ffn_gate_exps.weight"},
    {"model.layers.*.block_sparse_moe.experts.*.w2.weight",
     "blk.*.ffn_down_exps.weight"},
    {"model.layers.*.block_sparse_moe.experts.*.w3.weight",
     "blk.*.ffn_up_exps.weight"},
};

void describe_mixtral(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  add_decoder(model);
  add_window(model);
  model.add_int("expert_count", config.get_int("num_local_experts"));
  model.add_int("expert_used_count", config.get_int("num_experts_per_tok"));
}

}  // namespace

constexpr Architecture kMixtral = {
    .model_type = "mixtral",
    .name = "llama",
    .defaults = R"({"num_key_value_heads": 8, "rms_norm_eps": 1e-5,
                    "max_position_embeddings": 131072, "rope_theta": 1e6,
                    "num_experts_per_tok": 2, "num_local_experts": 8,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kPairedAttentionRules, kNormRules, kMixtralRules},
    .describe = describe_mixtral,
};

}  // namespace rc::folder
