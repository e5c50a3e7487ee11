// Qwen 1.5 and 2 with experts, and one that is always used.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

void describe_qwen2_moe(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_no_window(config);
  expect_experts_everywhere(config);
  add_decoder(model);
  add_experts(model);
  add_normalized(model);
  model.add_int("expert_shared_feed_forward_length",
                config.get_int("shared_expert_intermediate_size"));
}

}  // namespace

constexpr Architecture kQwen2Moe = {
    .model_type = "qwen2_moe",
    .name = "qwen2moe",
    .defaults = R"({"num_key_value_heads": 16, "rms_norm_eps": 1e-6,
                    "max_position_embeddings": 32768, "max_window_layers": 28,
                    "num_experts": 60, "num_experts_per_tok": 4,
                    "moe_intermediate_size": 1408,
                    "shared_expert_intermediate_size": 5632,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kAttentionRules, kNormRules, kExpertRules,
              kGatedExpertRules},
    .describe = describe_qwen2_moe,
};

}  // namespace rc::folder
