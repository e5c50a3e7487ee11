// Laguna.
#include <algorithm>

#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr Rule kLagunaRules[] = {
    {"model.layers.*.self_attn.g_proj.weight", "blk.*.attn_gate.weight"},
    {"model.layers.*.mlp.experts.e_score_correction_bias",
     "blk.*.exp_probs_b.bias"},
    {"model.layers.*.mlp.shared_expert.gate_proj.weight",
     "blk.*.ffn_gate_shexp.weight"},
    {"model.layers.*.mlp.shared_expert.up_proj.weight",
     "blk.*.ffn_up_shexp.weight"},
    {"model.layers.*.mlp.shared_expert.down_proj.weight",
     "blk.*.ffn_down_shexp.weight"},
};

constexpr std::string_view kDefaultLagunaRope =
    R"({"full_attention": {"rope_theta": 5e5, "partial_rotary_factor": 0.5},
        "sliding_attention": {"rope_theta": 1e4}})";

// An object for each kind of layers.
void add_laguna_ropes(Description& model, bool has_windows) {
  const Config& config = model.config();
  const Config rope =
      config.find_object("rope_parameters")
          .value_or(Config::parse(kDefaultLagunaRope, config.file()));
  const auto of_kind = [&](std::string_view kind) {
    auto object = rope.find_object(kind);
    if (!object) rope.refuse(RC_E_FORMAT, kind, " is missing");
    return *std::move(object);
  };
  add_rope(model, of_kind("full_attention"),
           {.rotated_part = "partial_rotary_factor"});
  if (!has_windows) return;
  const Config windowed = of_kind("sliding_attention");
  expect_plain_rope(windowed);
  const double part =
      windowed.find_number("partial_rotary_factor").value_or(1.0);
  if (!(part > 0.0 && part <= 1.0)) {
    windowed.refuse(RC_E_FORMAT, "partial_rotary_factor", " is ", part,
                    ", but must be above 0 and at most 1");
  }
  model.add_number("rope.freq_base_swa", windowed.get_number("rope_theta"));
  model.add_int(
      "rope.dimension_count_swa",
      static_cast<int64_t>(part * static_cast<double>(head_size(config))));
}

void describe_laguna(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_flag(config, "attention_bias", false);
  expect_flag(config, "moe_apply_router_weight_on_input", false);
  expect_number(config, "moe_router_logit_softcapping", 0);
  // Without types of layers, all see all positions.
  std::vector<bool> windowed(static_cast<size_t>(layer_count(config)));
  if (auto full = find_full_layers(config, "sliding_attention")) {
    expect_layer_members(config, "layer_types", full->size());
    full->flip();
    windowed = *std::move(full);
  }
  const bool has_windows = std::ranges::find(windowed, true) != windowed.end();
  std::vector<int64_t> heads(windowed.size(),
                             config.get_int("num_attention_heads"));
  constexpr std::string_view kHeads = "num_attention_heads_per_layer";
  if (auto of_layers = config.find_ints(kHeads)) {
    expect_layer_members(config, kHeads, of_layers->size());
    heads = *std::move(of_layers);
  }
  const int64_t size = head_size(config);
  model.add_int("block_count", layer_count(config));
  model.add_int("context_length", config.get_int("max_position_embeddings"));
  model.add_int("embedding_length", config.get_int("hidden_size"));
  model.add_int("feed_forward_length", config.get_int("intermediate_size"));
  model.add_number("attention.layer_norm_rms_epsilon",
                   config.get_number("rms_norm_eps"));
  model.add_ints("attention.head_count", heads);
  model.add_int("attention.head_count_kv",
                config.get_int("num_key_value_heads"));
  model.add_int("attention.key_length", size);
  model.add_int("attention.value_length", size);
  model.add_int("vocab_size", config.get_int("vocab_size"));
  add_laguna_ropes(model, has_windows);
  if (has_windows) {
    model.add_int("attention.sliding_window", config.get_int("sliding_window"));
    model.add_flags("attention.sliding_window_pattern", windowed);
  }
  add_experts(model);
  model.add_int("expert_shared_feed_forward_length",
                config.get_int("shared_expert_intermediate_size"));
  model.add_int("leading_dense_block_count", dense_layers(config));
  // GGUF's number of the sigmoid.
  model.add_int("expert_gating_func", 2);
  model.add_number("expert_weights_scale",
                   config.get_number("moe_routed_scaling_factor"));
  model.add_flag("expert_weights_norm", true);
}

}  // namespace

constexpr Architecture kLaguna = {
    .model_type = "laguna",
    .name = "laguna",
    .defaults =
        R"({"rms_norm_eps": 1e-6, "max_position_embeddings": 131072,
            "num_key_value_heads": 8, "head_dim": 128, "sliding_window": 512,
            "num_experts": 256, "num_experts_per_tok": 8,
            "moe_intermediate_size": 512,
            "shared_expert_intermediate_size": 512,
            "moe_routed_scaling_factor": 1.0, "first_k_dense_replace": 1,
            "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kAttentionRules, kNormRules, kHeadNormRules,
              kExpertRules, kSelectedExpertRules, kLagunaRules},
    .describe = describe_laguna,
};

}  // namespace rc::folder
