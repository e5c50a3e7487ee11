// Qwen 3, dense and with experts in every layer.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

void describe_qwen3(Description& model) {
  expect_text(model.config(), "hidden_act", {"silu"});
  expect_no_window(model.config());
  add_decoder(model);
}

void describe_qwen3_moe(Description& model) {
  describe_qwen3(model);
  const Config& config = model.config();
  expect_experts_everywhere(config);
  // Newer folders have the other name.
  constexpr std::string_view kCount = "num_local_experts";
  add_experts(model, {.count = config.has(kCount) ? kCount : "num_experts"});
  add_normalized(model);
}

}  // namespace

constexpr Architecture kQwen3 = {
    .model_type = "qwen3",
    .name = "qwen3",
    .defaults = R"({"num_key_value_heads": 32, "rms_norm_eps": 1e-6,
                    "head_dim": 128, "max_position_embeddings": 32768,
                    "max_window_layers": 28, "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kAttentionRules, kNormRules, kHeadNormRules},
    .describe = describe_qwen3,
};

constexpr Architecture kQwen3Moe = {
    .model_type = "qwen3_moe",
    .name = "qwen3moe",
    .defaults = R"({"num_key_value_heads": 4, "rms_norm_eps": 1e-6,
                    "max_position_embeddings": 32768, "num_experts": 128,
                    "num_experts_per_tok": 8, "moe_intermediate_size": 768,
                    "decoder_sparse_step": 1, "norm_topk_prob": false,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kAttentionRules, kNormRules, kHeadNormRules,
              kExpertRules},
    .describe = describe_qwen3_moe,
};

}  // namespace rc::folder
