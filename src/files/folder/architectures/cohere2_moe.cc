// Command A+ and North: Command R7B with experts.
#include <algorithm>

#include "base/checked.h"
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr Rule kCohere2MoeRules[] = {
    {"model.norm.weight", "output_norm.weight"},
    {"model.layers.*.input_layernorm.weight", "blk.*.attn_norm.weight"},
};

// Which layers see only a window: layer_types, or of so many layers all but the
// last one, counted for the dense ones by themselves.
std::vector<bool> windows_of_cohere2_moe(const Config& config, int64_t dense) {
  const int64_t layers = layer_count(config);
  if (auto full = find_full_layers(config, "sliding_attention")) {
    expect_layer_members(config, "layer_types", full->size());
    full->flip();
    return *std::move(full);
  }
  const auto period = [&](std::string_view key) {
    const int64_t value = config.get_int(key);
    if (value < 1) {
      config.refuse(RC_E_FORMAT, key, " is ", value,
                    ", but must be at least 1");
    }
    return value;
  };
  const int64_t of_dense = period("prefix_dense_sliding_window_pattern");
  const int64_t of_others = period("sliding_window_pattern");
  std::vector<bool> windowed;
  for (int64_t i = 0; i < layers; ++i) {
    windowed.push_back(i < dense ? (i + 1) % of_dense != 0
                                 : (i - dense + 1) % of_others != 0);
  }
  return windowed;
}

void add_cohere2_moe_windows(Description& model, int64_t dense) {
  const Config& config = model.config();
  const std::vector<bool> windowed = windows_of_cohere2_moe(config, dense);
  constexpr std::string_view kPattern = "prefix_dense_sliding_window_pattern";
  for (int64_t i = 0; i < std::min(dense, layer_count(config)); ++i) {
    if (windowed[static_cast<size_t>(i)] || config.get_int(kPattern) == 1) {
      continue;
    }
    config.refuse(RC_E_UNSUPPORTED, kPattern, " is ", config.get_int(kPattern),
                  " and layer ", i,
                  " is dense and sees all positions; such layers are computed "
                  "with rotation, as 1 says");
  }
  model.add_int("attention.sliding_window", config.get_int("sliding_window"));
  model.add_flags("attention.sliding_window_pattern", windowed);
}

void add_cohere2_moe_experts(Description& model, int64_t dense) {
  const Config& config = model.config();
  add_experts(model, {.size = "intermediate_size"});
  model.add_int("leading_dense_block_count", dense);
  expect_text(config, "expert_selection_fn", {"softmax", "sigmoid"});
  const bool softmax = config.get_text("expert_selection_fn") == "softmax";
  // GGUF's numbers of the softmax and of the sigmoid.
  model.add_int("expert_gating_func", softmax ? 1 : 2);
  // A softmax of the chosen ones alone is that of all, divided by their sum.
  model.add_flag("expert_weights_norm",
                 softmax || config.find_flag("norm_topk_prob").value_or(true));
  const int64_t shared = config.get_int("num_shared_experts");
  if (shared == 0) return;
  expect_text(config, "shared_expert_combination_strategy", {"average"});
  model.add_int("expert_shared_count", shared);
  // The engine refuses -1.
  model.add_int(
      "expert_shared_feed_forward_length",
      checked_mul(config.get_int("intermediate_size"), shared).value_or(-1));
}

void describe_cohere2_moe(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_flag(config, "attention_bias", false);
  const bool squares = config.find("rms_norm_eps") != nullptr;
  add_decoder(model, {.layer_norm = squares ? "" : "layer_norm_eps",
                      .feed_forward = ""});
  model.add_int(
      "feed_forward_length",
      first_int(config, "prefix_dense_intermediate_size", "intermediate_size"));
  model.add_number("logit_scale", config.get_number("logit_scale"));
  const int64_t dense = dense_layers(config);
  add_cohere2_moe_windows(model, dense);
  add_cohere2_moe_experts(model, dense);
}

}  // namespace

constexpr Architecture kCohere2Moe = {
    .model_type = "cohere2_moe",
    .name = "cohere2moe",
    .defaults =
        R"({"layer_norm_eps": 1e-5, "max_position_embeddings": 8192,
            "head_dim": 128, "logit_scale": 0.0625, "sliding_window": 4096,
            "sliding_window_pattern": 4,
            "prefix_dense_sliding_window_pattern": 1,
            "first_k_dense_replace": 0, "num_experts": 8,
            "num_experts_per_tok": 2, "num_shared_experts": 0,
            "expert_selection_fn": "softmax", "tie_word_embeddings": true})",
    .rules = {kDecoderRules, kAttentionRules, kCohere2MoeRules, kExpertRules,
              kSelectedExpertRules},
    .describe = describe_cohere2_moe,
};

}  // namespace rc::folder
