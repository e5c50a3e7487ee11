// MiniMax Text 01 and M1, under the members of their releases and under those
// of transformers.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr Rule kMiniMaxRules[] = {
    {"model.layers.*.self_attn.qkv_proj.weight", "blk.*.attn_qkv.weight"},
    {"model.layers.*.self_attn.output_gate.weight", "blk.*.attn_gate.weight"},
    {"model.layers.*.self_attn.norm.weight", "blk.*.attn_norm_2.weight"},
    {"model.layers.*.self_attn.out_proj.weight", "blk.*.attn_output.weight"},
    {"model.layers.*.block_sparse_moe.gate.weight",
     "blk.*.ffn_gate_inp.weight"},
    {"model.layers.*.block_sparse_moe.experts.*.w1.weight",
     "blk.*.ffn_gate_exps.weight"},
    {"model.layers.*.block_sparse_moe.experts.*.w2.weight",
     "blk.*.ffn_down_exps.weight"},
    {"model.layers.*.block_sparse_moe.experts.*.w3.weight",
     "blk.*.ffn_up_exps.weight"},
    // Tensors that follow from the number of the layer and of its heads.
    {"model.layers.*.self_attn.slope_rate", ""},
    {"model.layers.*.self_attn.query_decay", ""},
    {"model.layers.*.self_attn.key_decay", ""},
    {"model.layers.*.self_attn.diagonal_decay", ""},
};

// Which layers do not attend: layer_types, or 0 in attn_type_list.
std::vector<bool> recurrent_layers(const Config& config) {
  if (auto full = find_full_layers(config, "linear_attention")) {
    full->flip();
    return *std::move(full);
  }
  std::vector<bool> recurrent;
  if (const auto list = config.find_ints("attn_type_list")) {
    for (const int64_t type : *list) recurrent.push_back(type == 0);
  } else {
    // As transformers has it.
    for (int64_t i = 0; i < layer_count(config); ++i) {
      recurrent.push_back(i % 2 == 1);
    }
  }
  return recurrent;
}

// Of all parts alike: what they add to is multiplied by a factor, and what they
// add by none.
double carried_scale(const Config& config) {
  constexpr const char* kAlphas[] = {"full_attn_alpha_factor",
                                     "linear_attn_alpha_factor",
                                     "mlp_alpha_factor",
                                     "layernorm_full_attention_alpha",
                                     "layernorm_linear_attention_alpha",
                                     "layernorm_mlp_alpha"};
  constexpr const char* kBetas[] = {"full_attn_beta_factor",
                                    "linear_attn_beta_factor",
                                    "mlp_beta_factor",
                                    "layernorm_full_attention_beta",
                                    "layernorm_linear_attention_beta",
                                    "layernorm_mlp_beta"};
  for (const char* key : kBetas) expect_number(config, key, 1.0);
  double scale = 1.0;
  for (const char* key : kAlphas)
    scale = config.find_number(key).value_or(scale);
  for (const char* key : kAlphas) expect_number(config, key, scale);
  return scale;
}

void describe_minimax(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_flag(config, "postnorm", true);
  expect_number(config, "shared_intermediate_size", 0);
  expect_none(config, "sliding_window");
  add_decoder_sizes(model);
  model.add_int("attention.head_count_kv",
                config.find_int("num_key_value_heads")
                    .value_or(config.get_int("num_attention_heads")));
  add_rope(model,
           {.rotated_size = config.has("rotary_dim") ? "rotary_dim" : ""});
  model.add_flags("attention.recurrent_layers", recurrent_layers(config));
  model.add_number("residual_scale", carried_scale(config));
  add_experts(model,
              {.count = "num_local_experts", .size = "intermediate_size"});
}

constexpr std::string_view kMiniMaxDefaults =
    R"({"rms_norm_eps": 1e-5, "max_position_embeddings": 131072,
        "num_key_value_heads": 8, "num_local_experts": 8,
        "num_experts_per_tok": 2, "rope_theta": 1e6,
        "tie_word_embeddings": false})";

}  // namespace

constexpr Architecture kMiniMax = {
    .model_type = "minimax",
    .name = "minimax-01",
    .defaults = kMiniMaxDefaults,
    .rules = {kDecoderRules, kAttentionRules, kNormRules, kMiniMaxRules},
    .describe = describe_minimax,
};

constexpr Architecture kMiniMaxText01 = {
    .model_type = "minimax_text_01",
    .name = "minimax-01",
    .defaults = kMiniMaxDefaults,
    .rules = {kDecoderRules, kAttentionRules, kNormRules, kMiniMaxRules},
    .describe = describe_minimax,
};

constexpr Architecture kMiniMaxM1 = {
    .model_type = "minimax_m1",
    .name = "minimax-01",
    .defaults = kMiniMaxDefaults,
    .rules = {kDecoderRules, kAttentionRules, kNormRules, kMiniMaxRules},
    .describe = describe_minimax,
};

}  // namespace rc::folder
