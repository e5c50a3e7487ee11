// Kimi Linear, under the members of its release and under those of
// transformers.
#include <algorithm>

#include "base/checked.h"
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"
#include "files/folder/latent_heads.h"

namespace rc::folder {
namespace {

// Files have four dimensions: [1, channels, 1, taps].
TensorView convolution_of_four(const Config&,
                               const safetensors::Place& source) {
  TensorView view = whole(source);
  const size_t rank = view.shape.size();
  if (rank < 2 || rank > 3 || (rank == 3 && view.shape[1] != 1)) {
    refuse_shape(source, "a convolution of each channel by itself");
  }
  view.shape = {1, view.shape.front(), 1, view.shape.back()};
  view.dtype = RC_DTYPE_F32;
  return view;
}

constexpr Rule kKimiLinearRules[] = {
    {"model.layers.*.self_attn.q_conv1d.weight", "blk.*.ssm_conv1d_q.weight",
     convolution_of_four},
    {"model.layers.*.self_attn.k_conv1d.weight", "blk.*.ssm_conv1d_k.weight",
     convolution_of_four},
    {"model.layers.*.self_attn.v_conv1d.weight", "blk.*.ssm_conv1d_v.weight",
     convolution_of_four},
    {"model.layers.*.self_attn.f_a_proj.weight", "blk.*.ssm_f_a.weight"},
    {"model.layers.*.self_attn.f_b_proj.weight", "blk.*.ssm_f_b.weight"},
    {"model.layers.*.self_attn.g_a_proj.weight", "blk.*.ssm_g_a.weight"},
    {"model.layers.*.self_attn.g_b_proj.weight", "blk.*.ssm_g_b.weight"},
    {"model.layers.*.self_attn.b_proj.weight", "blk.*.ssm_beta.weight"},
    {"model.layers.*.self_attn.dt_bias", "blk.*.ssm_dt.bias"},
    {"model.layers.*.self_attn.A_log", "blk.*.ssm_a", decays},
    {"model.layers.*.self_attn.o_norm.weight", "blk.*.ssm_norm.weight"},
    {"model.layers.*.self_attn.k_proj.weight", "blk.*.attn_k.weight"},
    {"model.layers.*.block_sparse_moe.gate.weight",
     "blk.*.ffn_gate_inp.weight"},
    {"model.layers.*.block_sparse_moe.gate.e_score_correction_bias",
     "blk.*.exp_probs_b.bias"},
    {"model.layers.*.block_sparse_moe.experts.*.w1.weight",
     "blk.*.ffn_gate_exps.weight"},
    {"model.layers.*.block_sparse_moe.experts.*.w2.weight",
     "blk.*.ffn_down_exps.weight"},
    {"model.layers.*.block_sparse_moe.experts.*.w3.weight",
     "blk.*.ffn_up_exps.weight"},
    {"model.layers.*.block_sparse_moe.shared_experts.gate_proj.weight",
     "blk.*.ffn_gate_shexp.weight"},
    {"model.layers.*.block_sparse_moe.shared_experts.up_proj.weight",
     "blk.*.ffn_up_shexp.weight"},
    {"model.layers.*.block_sparse_moe.shared_experts.down_proj.weight",
     "blk.*.ffn_down_shexp.weight"},
    // Of dense layers, as transformers writes them.
    {"model.layers.*.block_sparse_moe.gate_proj.weight",
     "blk.*.ffn_gate.weight"},
    {"model.layers.*.block_sparse_moe.up_proj.weight", "blk.*.ffn_up.weight"},
    {"model.layers.*.block_sparse_moe.down_proj.weight",
     "blk.*.ffn_down.weight"},
};

// 1 for a layer that attends: layer_types, or full_attn_layers of the release,
// which counts from 1, or each fourth from layer 4 on.
std::vector<int64_t> attending_layers(const Config& config,
                                      const std::optional<Config>& linear) {
  const int64_t layers = layer_count(config);
  std::vector<int64_t> attends(static_cast<size_t>(layers));
  if (const auto full = find_full_layers(config, "linear_attention")) {
    expect_layer_members(config, "layer_types", full->size());
    return {full->begin(), full->end()};
  }
  const auto numbers =
      linear ? linear->find_ints("full_attn_layers") : std::nullopt;
  for (int64_t i = 0; i < layers; ++i) {
    attends[static_cast<size_t>(i)] =
        numbers ? std::ranges::count(*numbers, i + 1) > 0 : i > 0 && i % 4 == 0;
  }
  return attends;
}

void add_latent_parts(Description& model) {
  const Config& config = model.config();
  const int64_t rank = config.get_int("kv_lora_rank");
  const int64_t shared = config.get_int("qk_rope_head_dim");
  if (const auto query = config.find_int("q_lora_rank")) {
    model.add_int("attention.q_lora_rank", *query);
  }
  model.add_int("attention.kv_lora_rank", rank);
  model.add_int("rope.dimension_count", shared);
  model.add_int("attention.key_length", checked_add(rank, shared).value_or(-1));
  model.add_int(
      "attention.key_length_mla",
      checked_add(config.get_int("qk_nope_head_dim"), shared).value_or(-1));
  model.add_int("attention.value_length_mla", config.get_int("v_head_dim"));
}

void add_kimi_experts(Description& model) {
  const Config& config = model.config();
  model.add_int("expert_count", config.get_int("num_experts"));
  model.add_int("expert_used_count", first_int(config, "num_experts_per_token",
                                               "num_experts_per_tok"));
  model.add_int("expert_feed_forward_length",
                config.get_int("moe_intermediate_size"));
  model.add_int("expert_shared_count",
                first_int(config, "num_shared_experts", "n_shared_experts"));
  model.add_int("leading_dense_block_count", dense_layers(config));
  // GGUF's number of the sigmoid.
  model.add_int("expert_gating_func", 2);
  model.add_number("expert_weights_scale",
                   config.get_number("routed_scaling_factor"));
  model.add_flag("expert_weights_norm",
                 config.find_flag("moe_renormalize").value_or(true));
  expect_number(config, "moe_layer_freq", 1);
  const auto groups = config.find_int("num_expert_group");
  if (!groups || *groups == 1) return;
  model.add_int("expert_group_count", *groups);
  model.add_int("expert_group_used_count", config.get_int("topk_group"));
}

void describe_kimi_linear(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_text(config, "moe_router_activation_func", {"sigmoid"});
  expect_flag(config, "attention_bias", false);
  expect_flag(config, "mla_use_nope", true);
  model.add_int("block_count", layer_count(config));
  model.add_int("context_length", first_int(config, "model_max_length",
                                            "max_position_embeddings"));
  model.add_int("embedding_length", config.get_int("hidden_size"));
  model.add_int("feed_forward_length", config.get_int("intermediate_size"));
  model.add_int("vocab_size", config.get_int("vocab_size"));
  model.add_number("attention.layer_norm_rms_epsilon",
                   config.get_number("rms_norm_eps"));
  const int64_t heads = config.get_int("num_attention_heads");
  const std::optional<Config> linear = config.find_object("linear_attn_config");
  const auto part = [&](std::string_view of_release, std::string_view key) {
    const auto given = linear ? linear->find_int(of_release) : std::nullopt;
    return given ? *given : config.get_int(key);
  };
  if (part("num_heads", "linear_num_heads") != heads) {
    config.refuse(RC_E_UNSUPPORTED, "linear_num_heads", " is ",
                  part("num_heads", "linear_num_heads"),
                  "; all layers are computed with the ", heads,
                  " heads of num_attention_heads");
  }
  model.add_int("attention.head_count", heads);
  model.add_ints("attention.head_count_kv", attending_layers(config, linear));
  model.add_int("ssm.conv_kernel",
                part("short_conv_kernel_size", "linear_conv_kernel_dim"));
  model.add_int("kda.head_dim", part("head_dim", "linear_head_dim"));
  add_latent_parts(model);
  add_kimi_experts(model);
}

}  // namespace

constexpr Architecture kKimiLinear = {
    .model_type = "kimi_linear",
    .name = "kimi-linear",
    .defaults = R"({"rms_norm_eps": 1e-5, "max_position_embeddings": 1048576,
                    "num_experts": 256, "num_experts_per_tok": 8,
                    "n_shared_experts": 1, "moe_intermediate_size": 1024,
                    "routed_scaling_factor": 2.446, "first_k_dense_replace": 1,
                    "kv_lora_rank": 512, "qk_rope_head_dim": 64,
                    "qk_nope_head_dim": 128, "v_head_dim": 128,
                    "linear_head_dim": 128, "linear_num_heads": 32,
                    "linear_conv_kernel_dim": 4,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kLatentRules, kLatentHeadRules, kNormRules,
              kKimiLinearRules},
    .describe = describe_kimi_linear,
};

}  // namespace rc::folder
