// LFM2: gated short convolutions with a few layers of attention between them;
// also with experts.
#include <algorithm>

#include "files/folder/architectures/list.h"

namespace rc::folder {
namespace {

constexpr Rule kLfm2Rules[] = {
    {"model.embed_tokens.weight", "token_embd.weight"},
    {"lm_head.weight", "output.weight"},
    {"model.embedding_norm.weight", "token_embd_norm.weight"},
    {"model.layers.*.operator_norm.weight", "blk.*.attn_norm.weight"},
    {"model.layers.*.ffn_norm.weight", "blk.*.ffn_norm.weight"},
    {"model.layers.*.self_attn.q_proj.weight", "blk.*.attn_q.weight"},
    {"model.layers.*.self_attn.k_proj.weight", "blk.*.attn_k.weight"},
    {"model.layers.*.self_attn.v_proj.weight", "blk.*.attn_v.weight"},
    {"model.layers.*.self_attn.out_proj.weight", "blk.*.attn_output.weight"},
    {"model.layers.*.self_attn.q_layernorm.weight", "blk.*.attn_q_norm.weight"},
    {"model.layers.*.self_attn.k_layernorm.weight", "blk.*.attn_k_norm.weight"},
    {"model.layers.*.conv.in_proj.weight", "blk.*.shortconv.in_proj.weight"},
    {"model.layers.*.conv.conv.weight", "blk.*.shortconv.conv.weight",
     convolution},
    {"model.layers.*.conv.out_proj.weight", "blk.*.shortconv.out_proj.weight"},
    {"model.layers.*.feed_forward.w1.weight", "blk.*.ffn_gate.weight"},
    {"model.layers.*.feed_forward.w2.weight", "blk.*.ffn_down.weight"},
    {"model.layers.*.feed_forward.w3.weight", "blk.*.ffn_up.weight"},
};

// A tensor for each expert, or one for all.
constexpr Rule kLfm2ExpertRules[] = {
    {"model.layers.*.feed_forward.gate.weight", "blk.*.ffn_gate_inp.weight"},
    {"model.layers.*.feed_forward.expert_bias", "blk.*.exp_probs_b.bias"},
    {"model.layers.*.feed_forward.experts.*.w1.weight",
     "blk.*.ffn_gate_exps.weight"},
    {"model.layers.*.feed_forward.experts.*.w2.weight",
     "blk.*.ffn_down_exps.weight"},
    {"model.layers.*.feed_forward.experts.*.w3.weight",
     "blk.*.ffn_up_exps.weight"},
    {"model.layers.*.feed_forward.experts.gate_up_proj",
     "blk.*.ffn_gate_exps.weight", first_half},
    {"model.layers.*.feed_forward.experts.gate_up_proj",
     "blk.*.ffn_up_exps.weight", second_half},
    {"model.layers.*.feed_forward.experts.down_proj",
     "blk.*.ffn_down_exps.weight"},
};

// Layers without key/value heads are convolutions. Older folders number those
// that attend.
std::vector<int64_t> kv_heads(const Config& config) {
  const int64_t heads = config.get_int("num_key_value_heads");
  std::vector<int64_t> result;
  if (const auto types = config.find_texts("layer_types")) {
    for (const std::string& type : *types) {
      if (type != "conv" && type != "full_attention") {
        config.refuse(RC_E_UNSUPPORTED, "layer_types", " holds ", quote(type),
                      "; known are conv, full_attention");
      }
      result.push_back(type == "conv" ? 0 : heads);
    }
    return result;
  }
  const auto attending = config.find_ints("full_attn_idxs");
  for (int64_t i = 0; i < layer_count(config); ++i) {
    const bool attends =
        !attending || std::ranges::find(*attending, i) != attending->end();
    result.push_back(attends ? heads : 0);
  }
  return result;
}

// Two thirds of what is said, times a factor, rounded up.
int64_t feed_forward(const Config& config) {
  const int64_t size = config.find_int("block_ff_dim")
                           .value_or(config.get_int("intermediate_size"));
  if (!config.find_flag("block_auto_adjust_ff_dim").value_or(true)) return size;
  constexpr int64_t kMost = int64_t{1} << 40;
  if (size < 1 || size > kMost) {
    config.refuse(RC_E_FORMAT, "intermediate_size", " is ", size, "; 1 to ",
                  kMost, " are possible");
  }
  int64_t adjusted = 2 * size / 3;
  const auto factor = config.find_number("block_ffn_dim_multiplier");
  if (!factor) return adjusted;
  const int64_t unit = config.get_int("block_multiple_of");
  if (!(*factor > 0.0 && *factor <= 1024.0) || unit < 1 || unit > kMost) {
    config.refuse(RC_E_FORMAT, "block_ffn_dim_multiplier", " is ", *factor,
                  " and block_multiple_of is ", unit,
                  "; above 0 to 1024, and 1 to ", kMost, " are possible");
  }
  adjusted = static_cast<int64_t>(*factor * static_cast<double>(adjusted));
  return (adjusted + unit - 1) / unit * unit;
}

void add_lfm2(Description& model) {
  const Config& config = model.config();
  expect_flag(config, "conv_bias", false);
  model.add_int("block_count", layer_count(config));
  model.add_int("context_length", config.get_int("max_position_embeddings"));
  model.add_int("embedding_length", config.get_int("hidden_size"));
  model.add_int("vocab_size", config.get_int("vocab_size"));
  model.add_int("attention.head_count", config.get_int("num_attention_heads"));
  model.add_ints("attention.head_count_kv", kv_heads(config));
  model.add_number("attention.layer_norm_rms_epsilon",
                   config.get_number("norm_eps"));
  model.add_int("attention.key_length", head_size(config));
  model.add_int("attention.value_length", head_size(config));
  model.add_int("shortconv.l_cache", config.get_int("conv_L_cache"));
  add_rope(model);
}

void describe_lfm2(Description& model) {
  add_lfm2(model);
  model.add_int("feed_forward_length", feed_forward(model.config()));
}

void describe_lfm2_moe(Description& model) {
  const Config& config = model.config();
  expect_flag(config, "use_expert_bias", true);
  add_lfm2(model);
  model.add_int("feed_forward_length", config.get_int("intermediate_size"));
  add_experts(model);
  model.add_int("leading_dense_block_count",
                config.get_int("num_dense_layers"));
  // GGUF's number of the sigmoid.
  model.add_int("expert_gating_func", 2);
  model.add_number("expert_weights_scale",
                   config.get_number("routed_scaling_factor"));
  model.add_flag("expert_weights_norm",
                 config.find_flag("norm_topk_prob").value_or(true));
}

}  // namespace

constexpr Architecture kLfm2 = {
    .model_type = "lfm2",
    .name = "lfm2",
    .defaults = R"({"max_position_embeddings": 128000, "norm_eps": 1e-5,
                    "num_key_value_heads": 8, "rope_theta": 1000000.0,
                    "conv_L_cache": 3, "block_multiple_of": 256,
                    "block_ffn_dim_multiplier": 1.0,
                    "tie_word_embeddings": true})",
    .rules = {kLfm2Rules},
    .describe = describe_lfm2,
};

constexpr Architecture kLfm2Moe = {
    .model_type = "lfm2_moe",
    .name = "lfm2moe",
    .defaults = R"({"max_position_embeddings": 128000, "norm_eps": 1e-5,
                    "num_key_value_heads": 8, "rope_theta": 1000000.0,
                    "conv_L_cache": 3, "num_dense_layers": 2,
                    "routed_scaling_factor": 1.0,
                    "tie_word_embeddings": true})",
    .rules = {kLfm2Rules, kLfm2ExpertRules},
    .describe = describe_lfm2_moe,
};

}  // namespace rc::folder
