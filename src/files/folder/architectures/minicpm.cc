// MiniCPM 1, 2 and 4, and MiniCPM 3, whose attention is latent.
#include <cmath>

#include "base/checked.h"
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

void add_minicpm_factors(Description& model) {
  const Config& config = model.config();
  model.add_number("embedding_scale", config.get_number("scale_emb"));
  const auto layers = static_cast<double>(layer_count(config));
  // Null stands for what is as it is.
  const double depth =
      config.find_number("scale_depth").value_or(std::sqrt(layers));
  model.add_number("residual_scale", depth / std::sqrt(layers));
  const auto width = static_cast<double>(config.get_int("hidden_size"));
  const double base = config.find_number("dim_model_base").value_or(width);
  if (!(base > 0.0)) {
    config.refuse(RC_E_FORMAT, "dim_model_base", " is ", base,
                  ", but must be above 0");
  }
  model.add_number("logit_scale", width / base);
}

void describe_minicpm(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_none(config, "sparse_config");
  add_decoder(model);
  add_minicpm_factors(model);
}

// Keys and values of a head from their short vector.
constexpr Rule kJointLatentRules[] = {
    {"model.layers.*.self_attn.kv_b_proj.weight", "blk.*.attn_kv_b.weight"},
};

void describe_minicpm3(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_flag(config, "attention_bias", false);
  expect_flag(config, "mlp_bias", false);
  const int64_t width = config.get_int("hidden_size");
  const int64_t heads = config.get_int("num_attention_heads");
  if (heads < 1) {
    config.refuse(RC_E_FORMAT, "num_attention_heads", " is ", heads,
                  ", but must be at least 1");
  }
  const int64_t rotated = config.get_int("qk_rope_head_dim");
  model.add_int("block_count", layer_count(config));
  model.add_int("context_length", config.get_int("max_position_embeddings"));
  model.add_int("embedding_length", width);
  model.add_int("feed_forward_length", config.get_int("intermediate_size"));
  model.add_int("attention.head_count", heads);
  model.add_int("attention.head_count_kv", heads);
  model.add_number("attention.layer_norm_rms_epsilon",
                   config.get_number("rms_norm_eps"));
  model.add_int("vocab_size", config.get_int("vocab_size"));
  model.add_int("attention.q_lora_rank", config.get_int("q_lora_rank"));
  model.add_int("attention.kv_lora_rank", config.get_int("kv_lora_rank"));
  model.add_int(
      "attention.key_length",
      checked_add(config.get_int("qk_nope_head_dim"), rotated).value_or(-1));
  model.add_int("attention.value_length",
                config.find_int("v_head_dim").value_or(width / heads));
  add_rope(model, {.rotated_size = "qk_rope_head_dim"});
  add_minicpm_factors(model);
}

}  // namespace

constexpr Architecture kMiniCpm = {
    .model_type = "minicpm",
    .name = "minicpm",
    .defaults = R"({"max_position_embeddings": 2048, "rms_norm_eps": 1e-6,
                    "scale_emb": 1, "scale_depth": 1, "dim_model_base": 1,
                    "tie_word_embeddings": true})",
    .rules = {kDecoderRules, kPairedAttentionRules, kNormRules},
    .describe = describe_minicpm,
};

constexpr Architecture kMiniCpm3 = {
    .model_type = "minicpm3",
    .name = "minicpm3",
    .defaults = R"({"max_position_embeddings": 32768, "rms_norm_eps": 1e-5,
                    "q_lora_rank": 768, "kv_lora_rank": 256,
                    "qk_nope_head_dim": 64, "qk_rope_head_dim": 32,
                    "scale_emb": 12, "scale_depth": 1.4, "dim_model_base": 256,
                    "tie_word_embeddings": true})",
    .rules = {kDecoderRules, kLatentRules, kJointLatentRules, kNormRules},
    .describe = describe_minicpm3,
};

}  // namespace rc::folder
