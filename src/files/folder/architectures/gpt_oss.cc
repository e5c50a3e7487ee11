// gpt-oss. Its experts are in one tensor, multiply from the other side, and
// have the columns of gate and up in turn.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

// [experts, in, out] becomes [experts, out, in], of each `step` columns from
// `first` on.
TensorView turned(const safetensors::Place& source, uint64_t first,
                  uint64_t step) {
  TensorView view = whole(source);
  const std::vector<int64_t> shape = view.shape;
  if (shape.size() != 3 || shape[2] % static_cast<int64_t>(step) != 0 ||
      shape[0] > static_cast<int64_t>(kMaxExperts)) {
    refuse_shape(source, cat("of at most ", kMaxExperts,
                             " experts with a multiple of ", step, " columns"));
  }
  const auto in = static_cast<uint64_t>(shape[1]);
  const auto out = static_cast<uint64_t>(shape[2]);
  view.shape = {shape[0], static_cast<int64_t>(out / step), shape[1]};
  view.rows = out / step;
  view.columns = in;
  view.slabs.clear();
  for (uint64_t expert = 0; expert < static_cast<uint64_t>(shape[0]);
       ++expert) {
    view.slabs.push_back({source, expert * in * out + first, step, out});
  }
  return view;
}

// The same of a bias, [experts, out].
TensorView every_other(const safetensors::Place& source, uint64_t first) {
  TensorView view = whole(source);
  if (view.shape.size() != 2 || view.shape[1] % 2 != 0) {
    refuse_shape(source, "a bias for each expert");
  }
  view.dtype = RC_DTYPE_F32;
  view.slabs[0] = {source, first, view.columns, 2};
  view.columns /= 2;
  view.shape[1] /= 2;
  return view;
}

TensorView gate_of_experts(const Config&, const safetensors::Place& source) {
  return turned(source, 0, 2);
}
TensorView up_of_experts(const Config&, const safetensors::Place& source) {
  return turned(source, 1, 2);
}
TensorView down_of_experts(const Config&, const safetensors::Place& source) {
  return turned(source, 0, 1);
}
TensorView gate_bias(const Config&, const safetensors::Place& source) {
  return every_other(source, 0);
}
TensorView up_bias(const Config&, const safetensors::Place& source) {
  return every_other(source, 1);
}
TensorView down_bias(const Config&, const safetensors::Place& source) {
  TensorView view = whole(source);
  view.dtype = RC_DTYPE_F32;
  return view;
}

constexpr Rule kGptOssRules[] = {
    {"model.layers.*.self_attn.sinks", "blk.*.attn_sinks.weight"},
    {"model.layers.*.mlp.router.@", "blk.*.ffn_gate_inp.@"},
    {"model.layers.*.mlp.experts.gate_up_proj", "blk.*.ffn_gate_exps.weight",
     gate_of_experts},
    {"model.layers.*.mlp.experts.gate_up_proj", "blk.*.ffn_up_exps.weight",
     up_of_experts},
    {"model.layers.*.mlp.experts.down_proj", "blk.*.ffn_down_exps.weight",
     down_of_experts},
    {"model.layers.*.mlp.experts.gate_up_proj_bias", "blk.*.ffn_gate_exps.bias",
     gate_bias},
    {"model.layers.*.mlp.experts.gate_up_proj_bias", "blk.*.ffn_up_exps.bias",
     up_bias},
    {"model.layers.*.mlp.experts.down_proj_bias", "blk.*.ffn_down_exps.bias",
     down_bias},
};

void describe_gpt_oss(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_number(config, "swiglu_limit", 7.0);
  add_decoder(model);
  add_window(model);
  add_window_layers(model);
  model.add_int("expert_count", config.get_int("num_local_experts"));
  model.add_int("expert_used_count", config.get_int("num_experts_per_tok"));
  model.add_int("expert_feed_forward_length",
                config.get_int("intermediate_size"));
}

}  // namespace

constexpr Architecture kGptOss = {
    .model_type = "gpt_oss",
    .name = "gpt-oss",
    .defaults = R"({"num_key_value_heads": 8, "rms_norm_eps": 1e-5,
                    "head_dim": 64, "max_position_embeddings": 131072,
                    "sliding_window": 128, "rope_theta": 150000.0,
                    "num_local_experts": 128, "num_experts_per_tok": 4,
                    "rope_scaling": {"rope_type": "yarn", "factor": 32.0,
                      "beta_fast": 32.0, "beta_slow": 1.0, "truncate": false,
                      "original_max_position_embeddings": 4096},
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kAttentionRules, kPostAttentionNormRules,
              kGptOssRules},
    .describe = describe_gpt_oss,
    .whole_yarn_pairs = false,
};

}  // namespace rc::folder
