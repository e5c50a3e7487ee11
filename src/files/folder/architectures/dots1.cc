// dots.llm1.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

void describe_dots1(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_no_window(config);
  // Older folders say it so.
  if (!config.find("layer_types") && config.find("sliding_window") &&
      config.get_int("max_window_layers") < layer_count(config)) {
    config.refuse(RC_E_UNSUPPORTED, "max_window_layers",
                  " is less than num_hidden_layers; all layers are computed "
                  "without a window");
  }
  add_decoder(model);
  add_selected_experts(model);
}

}  // namespace

constexpr Architecture kDots1 = {
    .model_type = "dots1",
    .name = "dots1",
    .defaults = R"({"rms_norm_eps": 1e-6, "max_position_embeddings": 2048,
                    "moe_intermediate_size": 1408, "first_k_dense_replace": 0,
                    "norm_topk_prob": false, "routed_scaling_factor": 1.0,
                    "sliding_window": 4096, "max_window_layers": 62,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kAttentionRules, kNormRules, kHeadNormRules,
              kExpertRules, kSelectedExpertRules},
    .describe = describe_dots1,
};

}  // namespace rc::folder
