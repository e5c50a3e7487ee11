// ERNIE 4.5, dense and with experts. It rotates adjacent pairs itself.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

void describe_ernie4_5(Description& model) {
  expect_text(model.config(), "hidden_act", {"silu"});
  add_decoder(model);
}

// Layers that guess further tokens, which are not computed.
constexpr Rule kErnieRules[] = {{"model.mtp_%", ""}};

void describe_ernie4_5_moe(Description& model) {
  describe_ernie4_5(model);
  const Config& config = model.config();
  const int64_t last = config.find_int("moe_layer_end_index").value_or(-1);
  if (last >= 0 && last < layer_count(config) - 1) {
    config.refuse(RC_E_UNSUPPORTED, "moe_layer_end_index", " is ", last,
                  "; models of type ", config.get_text("model_type"),
                  " are computed with experts up to the last layer");
  }
  add_experts(model, {.count = "moe_num_experts", .used = "moe_k"});
  model.add_int("expert_shared_count",
                config.find_int("moe_num_shared_experts").value_or(0));
  model.add_int("leading_dense_block_count",
                config.get_int("moe_layer_start_index"));
  model.add_int("interleave_moe_layer_step",
                config.get_int("moe_layer_interval"));
}

}  // namespace

constexpr Architecture kErnie45 = {
    .model_type = "ernie4_5",
    .name = "ernie4_5",
    .defaults = R"({"num_key_value_heads": 2, "rms_norm_eps": 1e-5,
                    "head_dim": 128, "max_position_embeddings": 131072,
                    "rope_theta": 500000.0, "tie_word_embeddings": true})",
    .rules = {kDecoderRules, kAttentionRules, kNormRules},
    .describe = describe_ernie4_5,
};

constexpr Architecture kErnie45Moe = {
    .model_type = "ernie4_5_moe",
    .name = "ernie4_5-moe",
    .defaults = R"({"num_key_value_heads": 4, "rms_norm_eps": 1e-5,
                    "max_position_embeddings": 131072, "rope_theta": 500000.0,
                    "moe_intermediate_size": 1536, "moe_k": 6,
                    "moe_num_experts": 64, "moe_num_shared_experts": 2,
                    "moe_layer_start_index": 1, "moe_layer_interval": 1,
                    "tie_word_embeddings": true})",
    .rules = {kDecoderRules, kAttentionRules, kNormRules, kExpertRules,
              kSelectedExpertRules, kErnieRules},
    .describe = describe_ernie4_5_moe,
};

}  // namespace rc::folder
