// Nemotron-H: each layer is Mamba 2, attention or a feed-forward part, which
// may have experts.
#include <algorithm>

#include "base/checked.h"
#include "files/folder/architectures/list.h"
#include "files/folder/state_spaces.h"

namespace rc::folder {
namespace {

constexpr Rule kNemotronHRules[] = {
    {"backbone.embeddings.weight", "token_embd.weight"},
    {"backbone.norm_f.weight", "output_norm.weight"},
    {"lm_head.weight", "output.weight"},
    {"backbone.layers.*.norm.weight", "blk.*.attn_norm.weight"},
    {"backbone.layers.*.mixer.q_proj.weight", "blk.*.attn_q.weight"},
    {"backbone.layers.*.mixer.k_proj.weight", "blk.*.attn_k.weight"},
    {"backbone.layers.*.mixer.v_proj.weight", "blk.*.attn_v.weight"},
    {"backbone.layers.*.mixer.o_proj.weight", "blk.*.attn_output.weight"},
    {"backbone.layers.*.mixer.up_proj.weight", "blk.*.ffn_up.weight"},
    {"backbone.layers.*.mixer.down_proj.weight", "blk.*.ffn_down.weight"},
};

constexpr Rule kNemotronHExpertRules[] = {
    {"backbone.layers.*.mixer.gate.weight", "blk.*.ffn_gate_inp.weight"},
    {"backbone.layers.*.mixer.gate.e_score_correction_bias",
     "blk.*.exp_probs_b.bias"},
    {"backbone.layers.*.mixer.experts.*.up_proj.weight",
     "blk.*.ffn_up_exps.weight"},
    {"backbone.layers.*.mixer.experts.*.down_proj.weight",
     "blk.*.ffn_down_exps.weight"},
    {"backbone.layers.*.mixer.shared_experts.up_proj.weight",
     "blk.*.ffn_up_shexp.weight"},
    {"backbone.layers.*.mixer.shared_experts.down_proj.weight",
     "blk.*.ffn_down_shexp.weight"},
    {"backbone.layers.*.mixer.fc1_latent_proj.weight",
     "blk.*.ffn_latent_down.weight"},
    {"backbone.layers.*.mixer.fc2_latent_proj.weight",
     "blk.*.ffn_latent_up.weight"},
    // Of layers that guess further tokens.
    {"mtp.%", ""},
};

enum class Part { kSpace, kAttention, kFeedForward, kExperts };

// By name, or a letter for each: M, *, - and E.
std::vector<Part> parts_of(const Config& config) {
  std::vector<Part> parts;
  if (const auto types = config.find_texts("layers_block_type")) {
    for (const std::string& type : *types) {
      if (type == "linear_attention" || type == "mamba") {
        parts.push_back(Part::kSpace);
      } else if (type == "full_attention" || type == "attention") {
        parts.push_back(Part::kAttention);
      } else if (type == "mlp") {
        parts.push_back(Part::kFeedForward);
      } else if (type == "moe") {
        parts.push_back(Part::kExperts);
      } else {
        config.refuse(RC_E_UNSUPPORTED, "layers_block_type", " holds ",
                      quote(type),
                      "; known are linear_attention, full_attention, mlp, moe");
      }
    }
    return parts;
  }
  const std::string pattern = config.get_text("hybrid_override_pattern");
  for (const char letter : pattern) {
    if (letter != 'M' && letter != '*' && letter != '-' && letter != 'E') {
      config.refuse(RC_E_UNSUPPORTED, "hybrid_override_pattern", " is ",
                    quote(pattern), "; known are the letters M, *, - and E");
    }
    parts.push_back(letter == 'M'   ? Part::kSpace
                    : letter == '*' ? Part::kAttention
                    : letter == 'E' ? Part::kExperts
                                    : Part::kFeedForward);
  }
  return parts;
}

bool nemotron_has_experts(const Config& config) {
  if (!config.has("layers_block_type") &&
      !config.has("hybrid_override_pattern")) {
    return false;  // which describing the model reports
  }
  const std::vector<Part> parts = parts_of(config);
  return std::find(parts.begin(), parts.end(), Part::kExperts) != parts.end();
}

void describe_nemotron_h(Description& model) {
  const Config& config = model.config();
  expect_text(config, "mlp_hidden_act", {"relu2"});
  expect_text(config, "mamba_hidden_act", {"silu"});
  for (const char* key :
       {"attention_bias", "mlp_bias", "mamba_proj_bias", "use_bias"}) {
    expect_flag(config, key, false);
  }
  // transformers computes nothing with time_step_limit.
  model.add_number("ssm.time_step_min", config.get_number("time_step_min"));
  const std::vector<Part> parts = parts_of(config);
  std::vector<int64_t> kv_heads, sizes;
  for (const Part part : parts) {
    kv_heads.push_back(
        part == Part::kAttention ? config.get_int("num_key_value_heads") : 0);
    sizes.push_back(
        part == Part::kFeedForward ? config.get_int("intermediate_size")
        : part == Part::kExperts   ? config.get_int("moe_intermediate_size")
                                   : 0);
  }
  model.add_int("block_count", static_cast<int64_t>(parts.size()));
  model.add_int("context_length", config.get_int("max_position_embeddings"));
  model.add_int("embedding_length", config.get_int("hidden_size"));
  model.add_int("vocab_size", config.get_int("vocab_size"));
  model.add_ints("feed_forward_length", sizes);
  model.add_int("attention.head_count", config.get_int("num_attention_heads"));
  model.add_ints("attention.head_count_kv", kv_heads);
  model.add_int("attention.key_length", config.get_int("head_dim"));
  model.add_int("attention.value_length", config.get_int("head_dim"));
  model.add_number("attention.layer_norm_rms_epsilon",
                   config.get_number("layer_norm_epsilon"));
  const int64_t heads = config.get_int("mamba_num_heads");
  model.add_int("ssm.conv_kernel", config.get_int("conv_kernel"));
  model.add_int("ssm.state_size", config.get_int("ssm_state_size"));
  model.add_int("ssm.group_count", config.get_int("n_groups"));
  model.add_int("ssm.time_step_rank", heads);
  model.add_int(
      "ssm.inner_size",
      checked_mul(heads, config.get_int("mamba_head_dim")).value_or(-1));
}

void describe_nemotron_h_moe(Description& model) {
  describe_nemotron_h(model);
  const Config& config = model.config();
  add_experts(model, {.count = "n_routed_experts"});
  // GGUF's number of the sigmoid.
  model.add_int("expert_gating_func", 2);
  model.add_int("expert_shared_count", config.get_int("n_shared_experts"));
  model.add_int("expert_shared_feed_forward_length",
                config.get_int("moe_shared_expert_intermediate_size"));
  model.add_number("expert_weights_scale",
                   config.get_number("routed_scaling_factor"));
  add_normalized(model);
  if (config.get_int("n_group") != 1) add_expert_groups(model);
  if (const auto size = config.find_int("moe_latent_size")) {
    model.add_int("moe_latent_size", *size);
  }
}

constexpr std::string_view kNemotronHDefaults =
    R"({"max_position_embeddings": 4096, "head_dim": 128,
        "num_key_value_heads": 8, "layer_norm_epsilon": 1e-5,
        "conv_kernel": 4, "ssm_state_size": 128, "n_groups": 8,
        "mamba_num_heads": 128, "mamba_head_dim": 64, "time_step_min": 0.001,
        "n_routed_experts": 8, "n_shared_experts": 1,
        "num_experts_per_tok": 2, "moe_intermediate_size": 7688,
        "moe_shared_expert_intermediate_size": 7688, "n_group": 1,
        "topk_group": 1, "routed_scaling_factor": 1.0, "norm_topk_prob": true,
        "tie_word_embeddings": false})";

}  // namespace

constexpr Architecture kNemotronH = {
    .model_type = "nemotron_h",
    .name = "nemotron_h",
    .defaults = kNemotronHDefaults,
    .renames = {{"model.", "backbone."}, {}},
    .rules = {kNemotronHRules, kMixerSpaceRules},
    .describe = describe_nemotron_h,
};

// Files of the two have other names.
constexpr Architecture kNemotronHMoe = {
    .model_type = "nemotron_h",
    .applies = nemotron_has_experts,
    .name = "nemotron_h_moe",
    .defaults = kNemotronHDefaults,
    .renames = {{"model.", "backbone."}, {}},
    .rules = {kNemotronHRules, kMixerSpaceRules, kNemotronHExpertRules},
    .describe = describe_nemotron_h_moe,
};

}  // namespace rc::folder
