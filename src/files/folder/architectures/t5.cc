// T5, mT5 and UMT5: whole, or the encoder alone.
#include <algorithm>

#include "files/folder/architectures/list.h"

namespace rc::folder {
namespace {

constexpr Rule kT5EncoderRules[] = {
    {"shared.weight", "token_embd.weight"},
    // The same under other names, in some folders besides.
    {"encoder.embed_tokens.weight", "token_embd.weight", as_it_is, nullptr,
     true},
    {"encoder.final_layer_norm.weight", "enc.output_norm.weight"},
    {"encoder.block.*.layer.0.layer_norm.weight", "enc.blk.*.attn_norm.weight"},
    {"encoder.block.*.layer.0.SelfAttention.q.weight",
     "enc.blk.*.attn_q.weight"},
    {"encoder.block.*.layer.0.SelfAttention.k.weight",
     "enc.blk.*.attn_k.weight"},
    {"encoder.block.*.layer.0.SelfAttention.v.weight",
     "enc.blk.*.attn_v.weight"},
    {"encoder.block.*.layer.0.SelfAttention.o.weight",
     "enc.blk.*.attn_o.weight"},
    {"encoder.block.*.layer.0.SelfAttention.relative_attention_bias.weight",
     "enc.blk.*.attn_rel_b.weight"},
    {"encoder.block.*.layer.1.layer_norm.weight", "enc.blk.*.ffn_norm.weight"},
    {"encoder.block.*.layer.1.DenseReluDense.wi.weight",
     "enc.blk.*.ffn_up.weight"},
    {"encoder.block.*.layer.1.DenseReluDense.wi_0.weight",
     "enc.blk.*.ffn_gate.weight"},
    {"encoder.block.*.layer.1.DenseReluDense.wi_1.weight",
     "enc.blk.*.ffn_up.weight"},
    {"encoder.block.*.layer.1.DenseReluDense.wo.weight",
     "enc.blk.*.ffn_down.weight"},
};

constexpr Rule kT5DecoderRules[] = {
    {"decoder.embed_tokens.weight", "token_embd.weight", as_it_is, nullptr,
     true},
    {"lm_head.weight", "output.weight"},
    {"decoder.final_layer_norm.weight", "dec.output_norm.weight"},
    {"decoder.block.*.layer.0.layer_norm.weight", "dec.blk.*.attn_norm.weight"},
    {"decoder.block.*.layer.0.SelfAttention.q.weight",
     "dec.blk.*.attn_q.weight"},
    {"decoder.block.*.layer.0.SelfAttention.k.weight",
     "dec.blk.*.attn_k.weight"},
    {"decoder.block.*.layer.0.SelfAttention.v.weight",
     "dec.blk.*.attn_v.weight"},
    {"decoder.block.*.layer.0.SelfAttention.o.weight",
     "dec.blk.*.attn_o.weight"},
    {"decoder.block.*.layer.0.SelfAttention.relative_attention_bias.weight",
     "dec.blk.*.attn_rel_b.weight"},
    {"decoder.block.*.layer.1.layer_norm.weight",
     "dec.blk.*.cross_attn_norm.weight"},
    {"decoder.block.*.layer.1.EncDecAttention.q.weight",
     "dec.blk.*.cross_attn_q.weight"},
    {"decoder.block.*.layer.1.EncDecAttention.k.weight",
     "dec.blk.*.cross_attn_k.weight"},
    {"decoder.block.*.layer.1.EncDecAttention.v.weight",
     "dec.blk.*.cross_attn_v.weight"},
    {"decoder.block.*.layer.1.EncDecAttention.o.weight",
     "dec.blk.*.cross_attn_o.weight"},
    // A source has no distances; old folders have them all the same.
    {"decoder.block.*.layer.1.EncDecAttention.relative_attention_bias.weight",
     ""},
    {"decoder.block.*.layer.2.layer_norm.weight", "dec.blk.*.ffn_norm.weight"},
    {"decoder.block.*.layer.2.DenseReluDense.wi.weight",
     "dec.blk.*.ffn_up.weight"},
    {"decoder.block.*.layer.2.DenseReluDense.wi_0.weight",
     "dec.blk.*.ffn_gate.weight"},
    {"decoder.block.*.layer.2.DenseReluDense.wi_1.weight",
     "dec.blk.*.ffn_up.weight"},
    {"decoder.block.*.layer.2.DenseReluDense.wo.weight",
     "dec.blk.*.ffn_down.weight"},
};

bool is_t5_encoder(const Config& config) {
  const auto names = config.find_texts("architectures");
  return names && std::ranges::any_of(*names, [](const std::string& name) {
           return name.ends_with("EncoderModel");
         });
}

void describe_t5_encoder(Description& model) {
  const Config& config = model.config();
  expect_text(config, "feed_forward_proj", {"relu", "gated-gelu"});
  const bool gated = config.get_text("feed_forward_proj") == "gated-gelu";
  expect_flag(config, "is_gated_act", gated);
  expect_text(config, "dense_act_fn", {gated ? "gelu_new" : "relu"});
  expect_number(config, "relative_attention_max_distance", 128);
  const int64_t size = config.get_int("d_kv");
  const double epsilon = config.get_number("layer_norm_epsilon");
  model.add_int("context_length", config.get_int("n_positions"));
  model.add_int("embedding_length", config.get_int("d_model"));
  model.add_int("feed_forward_length", config.get_int("d_ff"));
  model.add_int("block_count", config.get_int("num_layers"));
  model.add_int("attention.head_count", config.get_int("num_heads"));
  model.add_int("attention.key_length", size);
  model.add_int("attention.value_length", size);
  model.add_number("attention.layer_norm_epsilon", epsilon);
  model.add_number("attention.layer_norm_rms_epsilon", epsilon);
  model.add_int("attention.relative_buckets_count",
                config.get_int("relative_attention_num_buckets"));
}

void describe_t5(Description& model) {
  const Config& config = model.config();
  describe_t5_encoder(model);
  model.add_int("decoder_block_count",
                config.find_int("num_decoder_layers")
                    .value_or(config.get_int("num_layers")));
  model.add_int("decoder_start_token_id",
                config.get_int("decoder_start_token_id"));
}

constexpr std::string_view kT5Defaults =
    R"({"feed_forward_proj": "relu", "n_positions": 512,
        "layer_norm_epsilon": 1e-6, "relative_attention_num_buckets": 32,
        "decoder_start_token_id": 0})";
constexpr std::string_view kLaterT5Defaults =
    R"({"feed_forward_proj": "gated-gelu", "n_positions": 512,
        "layer_norm_epsilon": 1e-6, "relative_attention_num_buckets": 32,
        "decoder_start_token_id": 0})";

constexpr Architecture t5_whole(std::string_view type,
                                std::string_view defaults) {
  return {
      .model_type = type,
      .name = "t5",
      .defaults = defaults,
      .rules = {kT5EncoderRules, kT5DecoderRules},
      .describe = describe_t5,
  };
}

constexpr Architecture t5_encoder(std::string_view type,
                                  std::string_view defaults) {
  return {
      .model_type = type,
      .applies = is_t5_encoder,
      .name = "t5encoder",
      .defaults = defaults,
      .rules = {kT5EncoderRules},
      .describe = describe_t5_encoder,
      .gives_hidden_rows = true,
  };
}

}  // namespace

constexpr Architecture kT5 = t5_whole("t5", kT5Defaults);
constexpr Architecture kT5Encoder = t5_encoder("t5", kT5Defaults);
constexpr Architecture kMt5 = t5_whole("mt5", kLaterT5Defaults);
constexpr Architecture kMt5Encoder = t5_encoder("mt5", kLaterT5Defaults);
constexpr Architecture kUmt5 = t5_whole("umt5", kLaterT5Defaults);
constexpr Architecture kUmt5Encoder = t5_encoder("umt5", kLaterT5Defaults);

}  // namespace rc::folder
