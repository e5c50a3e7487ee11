// MiMo V2 Flash, under the names of its release and under those of
// transformers.
#include <algorithm>

#include "base/checked.h"
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr Rule kMiMo2Rules[] = {
    {"model.layers.*.self_attn.qkv_proj.weight", "blk.*.attn_qkv.weight"},
    {"model.layers.*.self_attn.attention_sink_bias", "blk.*.attn_sinks.weight"},
    {"model.layers.*.self_attn.sinks", "blk.*.attn_sinks.weight"},
    // Of layers that guess further tokens.
    {"model.mtp.%", ""},
};

// Which layers have a window: layer_types, or 1 in hybrid_layer_pattern, or all
// but the first and each sixth.
std::vector<bool> layers_with_window(const Config& config) {
  const auto layers = static_cast<size_t>(layer_count(config));
  if (auto full = find_full_layers(config, "sliding_attention")) {
    expect_layer_members(config, "layer_types", full->size());
    full->flip();
    return *std::move(full);
  }
  std::vector<bool> windowed(layers);
  if (const auto pattern = config.find_ints("hybrid_layer_pattern")) {
    expect_layer_members(config, "hybrid_layer_pattern", pattern->size());
    for (size_t i = 0; i < layers; ++i) windowed[i] = (*pattern)[i] == 1;
  } else {
    for (size_t i = 0; i < layers; ++i) {
      windowed[i] = i != 0 && (i + 1) % 6 != 0;
    }
  }
  return windowed;
}

void add_windows(Description& model) {
  const Config& config = model.config();
  const std::vector<bool> windowed = layers_with_window(config);
  const int64_t heads = config.get_int("num_key_value_heads");
  const int64_t twice = checked_mul(heads, int64_t{2}).value_or(-1);
  const int64_t in_windows =
      config.find_int("swa_num_key_value_heads").value_or(twice);
  std::vector<int64_t> groups;
  for (const bool one : windowed) groups.push_back(one ? in_windows : heads);
  model.add_ints("attention.head_count_kv", groups);
  // The release counts the positions before a row.
  const auto before = config.find_int("sliding_window_size");
  model.add_int("attention.sliding_window",
                before ? checked_add(*before, int64_t{1}).value_or(-1)
                       : config.get_int("sliding_window"));
  model.add_flags("attention.sliding_window_pattern", windowed);
  const auto rope = config.find_object("rope_parameters");
  if (!rope) {
    return model.add_number("rope.freq_base_swa",
                            config.get_number("swa_rope_theta"));
  }
  constexpr std::string_view kPart = "partial_rotary_factor";
  const auto part = [&](std::string_view type) {
    const auto of_type = rope->find_object(type);
    return (of_type ? of_type->find_number(kPart) : std::nullopt)
        .value_or(config.get_number(kPart));
  };
  if (part("sliding_attention") != part("full_attention")) {
    rope->refuse(RC_E_UNSUPPORTED, "sliding_attention", ".", kPart, " is ",
                 part("sliding_attention"), "; layers are computed with ",
                 part("full_attention"), ", that of those without a window");
  }
}

void describe_mimo2(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_text(config, "scoring_func", {"sigmoid"});
  expect_text(config, "topk_method", {"noaux_tc"});
  expect_flag(config, "attention_bias", false);
  expect_number(config, "layernorm_epsilon", config.get_number("rms_norm_eps"));
  for (const auto& [one, other] :
       {std::pair{"swa_head_dim", "head_dim"},
        std::pair{"swa_v_head_dim", "v_head_dim"},
        std::pair{"swa_num_attention_heads", "num_attention_heads"}}) {
    expect_number(config, one, config.get_number(other));
  }
  add_decoder_sizes(model, {.value_size = "v_head_dim"});
  add_rope(model, {.rotated_part = "partial_rotary_factor"});
  add_windows(model);
  if (const auto scale = config.find_number("attention_value_scale")) {
    model.add_number("attention.value_scale", *scale);
  }
  add_experts(model, {.count = "n_routed_experts"});
  // GGUF's number of the sigmoid.
  model.add_int("expert_gating_func", 2);
  model.add_flag("expert_weights_norm",
                 config.find_flag("norm_topk_prob").value_or(true));
  if (const auto scale = config.find_number("routed_scaling_factor")) {
    model.add_number("expert_weights_scale", *scale);
  }
  if (config.get_int("n_group") != 1) add_expert_groups(model);
}

}  // namespace

// Layers without a router are dense, which their tensors show.
constexpr Architecture kMiMo2 = {
    .model_type = "mimo_v2_flash",
    .name = "mimo2",
    .defaults = R"({"rms_norm_eps": 1e-5, "max_position_embeddings": 131072,
                    "num_key_value_heads": 4, "head_dim": 192,
                    "v_head_dim": 128, "sliding_window": 129,
                    "partial_rotary_factor": 0.334, "rope_theta": 5e6,
                    "swa_rope_theta": 1e4, "n_routed_experts": 256,
                    "num_experts_per_tok": 8, "moe_intermediate_size": 2048,
                    "n_group": 1, "topk_group": 1,
                    "attention_value_scale": 0.707,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kAttentionRules, kNormRules, kExpertRules,
              kSelectedExpertRules, kMiMo2Rules},
    .describe = describe_mimo2,
};

}  // namespace rc::folder
