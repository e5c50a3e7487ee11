// Falcon-H1: attention and Mamba 2 side by side in every layer. The factors of
// activations in the configuration become part of the weights.
#include "files/folder/architectures/list.h"
#include "files/folder/state_spaces.h"

namespace rc::folder {
namespace {

double factor_of(const Config& config, std::string_view key) {
  return config.find_number(key).value_or(1.0);
}

// One of the factors of an array.
double factor_of(const Config& config, std::string_view key, size_t i,
                 size_t count) {
  const auto factors = config.find_numbers(key);
  if (!factors) return 1.0;
  if (factors->size() != count) {
    config.refuse(RC_E_FORMAT, key, " has ", factors->size(),
                  " numbers, but must have ", count);
  }
  return (*factors)[i];
}

TensorView scaled(const safetensors::Place& source, double factor) {
  const Factor all[] = {
      {source.tensor->shape.empty() ? 0 : source.tensor->shape.front(),
       factor}};
  return times(source, all);
}

TensorView embedding(const Config& config, const safetensors::Place& source) {
  return scaled(source, factor_of(config, "embedding_multiplier"));
}
TensorView output(const Config& config, const safetensors::Place& source) {
  return scaled(source, factor_of(config, "lm_head_multiplier"));
}
TensorView read_by_attention(const Config& config,
                             const safetensors::Place& source) {
  return scaled(source, factor_of(config, "attention_in_multiplier"));
}
TensorView keys(const Config& config, const safetensors::Place& source) {
  return scaled(source, factor_of(config, "attention_in_multiplier") *
                            factor_of(config, "key_multiplier"));
}
TensorView behind_attention(const Config& config,
                            const safetensors::Place& source) {
  return scaled(source, factor_of(config, "attention_out_multiplier"));
}
TensorView gates(const Config& config, const safetensors::Place& source) {
  return scaled(source, factor_of(config, "mlp_multipliers", 0, 2));
}
TensorView behind_gates(const Config& config,
                        const safetensors::Place& source) {
  return scaled(source, factor_of(config, "mlp_multipliers", 1, 2));
}
TensorView behind_space(const Config& config,
                        const safetensors::Place& source) {
  return scaled(source, factor_of(config, "ssm_out_multiplier"));
}

int64_t grouped(const Config& config) {
  const int64_t groups = config.get_int("mamba_n_groups");
  const int64_t size = config.get_int("mamba_d_state");
  constexpr int64_t kMost = 65536;
  if (groups < 1 || groups > kMost || size < 1 || size > kMost) {
    config.refuse(RC_E_FORMAT, "mamba_n_groups", " is ", groups,
                  " and mamba_d_state is ", size, "; 1 to ", kMost,
                  " are possible");
  }
  return groups * size;
}

// Gates, values, b, c and steps.
TensorView into_space(const Config& config, const safetensors::Place& source) {
  const int64_t inner = config.get_int("mamba_d_ssm");
  const int64_t rows[] = {inner, inner, grouped(config), grouped(config),
                          config.get_int("mamba_n_heads")};
  Factor factors[5];
  for (size_t i = 0; i < 5; ++i) {
    factors[i] = {rows[i], factor_of(config, "ssm_in_multiplier") *
                               factor_of(config, "ssm_multipliers", i, 5)};
  }
  return times(source, factors);
}

constexpr Rule kFalconH1Rules[] = {
    {"model.embed_tokens.weight", "token_embd.weight", embedding},
    {"lm_head.weight", "output.weight", output},
    {"model.final_layernorm.weight", "output_norm.weight"},
    {"model.layers.*.input_layernorm.weight", "blk.*.attn_norm.weight"},
    // Converters leave its end out.
    {"model.layers.*.pre_ff_layernorm.weight", "blk.*.ffn_norm"},
    {"model.layers.*.self_attn.q_proj.weight", "blk.*.attn_q.weight",
     read_by_attention},
    {"model.layers.*.self_attn.k_proj.weight", "blk.*.attn_k.weight", keys},
    {"model.layers.*.self_attn.v_proj.weight", "blk.*.attn_v.weight",
     read_by_attention},
    {"model.layers.*.self_attn.o_proj.weight", "blk.*.attn_output.weight",
     behind_attention},
    {"model.layers.*.feed_forward.gate_proj.weight", "blk.*.ffn_gate.weight",
     gates},
    {"model.layers.*.feed_forward.up_proj.weight", "blk.*.ffn_up.weight"},
    {"model.layers.*.feed_forward.down_proj.weight", "blk.*.ffn_down.weight",
     behind_gates},
    {"model.layers.*.mamba.in_proj.weight", "blk.*.ssm_in.weight", into_space},
    {"model.layers.*.mamba.conv1d.weight", "blk.*.ssm_conv1d.weight",
     convolution},
    {"model.layers.*.mamba.conv1d.bias", "blk.*.ssm_conv1d.bias"},
    {"model.layers.*.mamba.dt_bias", "blk.*.ssm_dt.bias"},
    {"model.layers.*.mamba.A_log", "blk.*.ssm_a", decay_column},
    {"model.layers.*.mamba.D", "blk.*.ssm_d", skip_column},
    {"model.layers.*.mamba.norm.weight", "blk.*.ssm_norm.weight", group_norm},
    {"model.layers.*.mamba.out_proj.weight", "blk.*.ssm_out.weight",
     behind_space},
};

void describe_falcon_h1(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  for (const char* key :
       {"attention_bias", "mlp_bias", "mamba_proj_bias", "projectors_bias"}) {
    expect_flag(config, key, false);
  }
  const bool normed = config.find_flag("mamba_rms_norm").value_or(false);
  if (normed) expect_flag(config, "mamba_norm_before_gate", false);
  if (config.find_flag("tie_word_embeddings").value_or(false) &&
      factor_of(config, "embedding_multiplier") !=
          factor_of(config, "lm_head_multiplier")) {
    config.refuse(RC_E_UNSUPPORTED, "tie_word_embeddings",
                  " is true, but embedding_multiplier is not "
                  "lm_head_multiplier; one table cannot have both factors");
  }
  add_decoder(model);
  model.add_int("ssm.conv_kernel", config.get_int("mamba_d_conv"));
  model.add_int("ssm.state_size", config.get_int("mamba_d_state"));
  model.add_int("ssm.group_count", config.get_int("mamba_n_groups"));
  model.add_int("ssm.time_step_rank", config.get_int("mamba_n_heads"));
  model.add_int("ssm.inner_size", config.get_int("mamba_d_ssm"));
  add_step_limits(model);
}

}  // namespace

constexpr Architecture kFalconH1 = {
    .model_type = "falcon_h1",
    .name = "falcon-h1",
    .defaults = R"({"max_position_embeddings": 8192, "rms_norm_eps": 1e-5,
                    "num_key_value_heads": 8, "rope_theta": 100000.0,
                    "mamba_d_ssm": 1024, "mamba_n_heads": 128,
                    "mamba_n_groups": 1, "mamba_d_state": 256,
                    "mamba_d_conv": 4, "mamba_norm_before_gate": true,
                    "tie_word_embeddings": false})",
    .rules = {kFalconH1Rules},
    .describe = describe_falcon_h1,
};

}  // namespace rc::folder
