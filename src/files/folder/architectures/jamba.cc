// Jamba: Mamba with layers of attention between them, and experts in some.
#include "base/checked.h"
#include "files/folder/architectures/list.h"
#include "files/folder/state_spaces.h"

namespace rc::folder {
namespace {

constexpr Rule kJambaRules[] = {
    {"model.embed_tokens.weight", "token_embd.weight"},
    {"lm_head.weight", "output.weight"},
    {"model.final_layernorm.weight", "output_norm.weight"},
    {"model.layers.*.input_layernorm.weight", "blk.*.attn_norm.weight"},
    {"model.layers.*.pre_ff_layernorm.weight", "blk.*.ffn_norm.weight"},
    {"model.layers.*.self_attn.q_proj.weight", "blk.*.attn_q.weight"},
    {"model.layers.*.self_attn.k_proj.weight", "blk.*.attn_k.weight"},
    {"model.layers.*.self_attn.v_proj.weight", "blk.*.attn_v.weight"},
    {"model.layers.*.self_attn.o_proj.weight", "blk.*.attn_output.weight"},
    {"model.layers.*.mamba.in_proj.weight", "blk.*.ssm_in.weight"},
    {"model.layers.*.mamba.conv1d.weight", "blk.*.ssm_conv1d.weight",
     convolution},
    {"model.layers.*.mamba.conv1d.bias", "blk.*.ssm_conv1d.bias"},
    {"model.layers.*.mamba.x_proj.weight", "blk.*.ssm_x.weight"},
    {"model.layers.*.mamba.dt_proj.@", "blk.*.ssm_dt.@"},
    {"model.layers.*.mamba.dt_layernorm.weight", "blk.*.ssm_dt_norm.weight"},
    {"model.layers.*.mamba.b_layernorm.weight", "blk.*.ssm_b_norm.weight"},
    {"model.layers.*.mamba.c_layernorm.weight", "blk.*.ssm_c_norm.weight"},
    {"model.layers.*.mamba.A_log", "blk.*.ssm_a", decays},
    {"model.layers.*.mamba.D", "blk.*.ssm_d"},
    {"model.layers.*.mamba.out_proj.weight", "blk.*.ssm_out.weight"},
    {"model.layers.*.feed_forward.gate_proj.weight", "blk.*.ffn_gate.weight"},
    {"model.layers.*.feed_forward.up_proj.weight", "blk.*.ffn_up.weight"},
    {"model.layers.*.feed_forward.down_proj.weight", "blk.*.ffn_down.weight"},
    {"model.layers.*.feed_forward.router.weight", "blk.*.ffn_gate_inp.weight"},
    {"model.layers.*.feed_forward.experts.*.gate_proj.weight",
     "blk.*.ffn_gate_exps.weight"},
    {"model.layers.*.feed_forward.experts.*.up_proj.weight",
     "blk.*.ffn_up_exps.weight"},
    {"model.layers.*.feed_forward.experts.*.down_proj.weight",
     "blk.*.ffn_down_exps.weight"},
};

void describe_jamba(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_flag(config, "mamba_proj_bias", false);
  expect_none(config, "sliding_window");
  add_decoder_sizes(model);
  const int64_t period = config.get_int("attn_layer_period");
  if (period < 1) {
    config.refuse(RC_E_FORMAT, "attn_layer_period", " is ", period,
                  ", but must be at least 1");
  }
  const int64_t offset = config.get_int("attn_layer_offset");
  std::vector<int64_t> kv_heads;
  for (int64_t i = 0; i < layer_count(config); ++i) {
    kv_heads.push_back(
        i % period == offset ? config.get_int("num_key_value_heads") : 0);
  }
  model.add_ints("attention.head_count_kv", kv_heads);
  model.add_int("ssm.conv_kernel", config.get_int("mamba_d_conv"));
  model.add_int("ssm.state_size", config.get_int("mamba_d_state"));
  model.add_int("ssm.time_step_rank", step_rank(config, "mamba_dt_rank"));
  model.add_int("ssm.inner_size", checked_mul(config.get_int("mamba_expand"),
                                              config.get_int("hidden_size"))
                                      .value_or(-1));
  // One expert is a dense part.
  if (config.get_int("num_experts") > 1) {
    model.add_int("expert_count", config.get_int("num_experts"));
    model.add_int("expert_used_count", config.get_int("num_experts_per_tok"));
  }
}

}  // namespace

constexpr Architecture kJamba = {
    .model_type = "jamba",
    .name = "jamba",
    .defaults = R"({"max_position_embeddings": 262144, "rms_norm_eps": 1e-6,
                    "num_key_value_heads": 8, "num_experts": 16,
                    "num_experts_per_tok": 2, "attn_layer_period": 8,
                    "attn_layer_offset": 4, "mamba_d_state": 16,
                    "mamba_d_conv": 4, "mamba_expand": 2,
                    "mamba_dt_rank": "auto", "tie_word_embeddings": false})",
    .rules = {kJambaRules},
    .describe = describe_jamba,
};

}  // namespace rc::folder
