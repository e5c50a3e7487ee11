// MPT.
#include "base/checked.h"
#include "files/folder/architectures/list.h"

namespace rc::folder {
namespace {

constexpr Rule kMptRules[] = {
    {"transformer.wte.weight", "token_embd.weight"},
    {"transformer.norm_f.weight", "output_norm.weight"},
    {"transformer.blocks.*.norm_1.weight", "blk.*.attn_norm.weight"},
    {"transformer.blocks.*.norm_2.weight", "blk.*.ffn_norm.weight"},
    {"transformer.blocks.*.attn.Wqkv.weight", "blk.*.attn_qkv.weight"},
    {"transformer.blocks.*.attn.out_proj.weight", "blk.*.attn_output.weight"},
    {"transformer.blocks.*.ffn.up_proj.weight", "blk.*.ffn_up.weight"},
    {"transformer.blocks.*.ffn.down_proj.weight", "blk.*.ffn_down.weight"},
};

void describe_mpt(Description& model) {
  const Config& config = model.config();
  expect_flag(config, "no_bias", true);
  expect_none(config, "logit_scale");
  expect_text(config, "norm_type", {"low_precision_layernorm", "layernorm"});
  Config attention = config.find_object("attn_config")
                         .value_or(Config::parse("{}", config.file()));
  // The name in messages.
  attention.add_defaults(R"({"model_type": "mpt"})");
  expect_text(attention, "attn_type", {"multihead_attention"});
  expect_flag(attention, "alibi", true);
  expect_flag(attention, "prefix_lm", false);
  expect_flag(attention, "qk_ln", false);
  expect_flag(attention, "attn_uses_sequence_id", false);
  expect_none(attention, "softmax_scale");
  const int64_t width = config.get_int("d_model");
  model.add_int("block_count", config.get_int("n_layers"));
  model.add_int("context_length", config.get_int("max_seq_len"));
  model.add_int("embedding_length", width);
  model.add_int(
      "feed_forward_length",
      checked_mul(width, config.get_int("expansion_ratio")).value_or(-1));
  model.add_int("attention.head_count", config.get_int("n_heads"));
  model.add_number("attention.layer_norm_epsilon",
                   config.get_number("layer_norm_epsilon"));
  model.add_number("attention.max_alibi_bias",
                   attention.find_number("alibi_bias_max").value_or(8.0));
  if (const auto limit = attention.find_number("clip_qkv")) {
    model.add_number("attention.clamp_kqv", *limit);
  }
}

}  // namespace

constexpr Architecture kMpt = {
    .model_type = "mpt",
    .name = "mpt",
    .defaults = R"({"expansion_ratio": 4, "max_seq_len": 2048,
                    "layer_norm_epsilon": 1e-5, "tie_word_embeddings": true})",
    .rules = {kMptRules},
    .describe = describe_mpt,
};

}  // namespace rc::folder
