// OPT. Its positions are counted from 2 on.
#include "files/folder/architectures/list.h"

namespace rc::folder {
namespace {

TensorView used_opt_positions(const Config&, const safetensors::Place& source) {
  return rows_from(source, 2);
}

constexpr Rule kOptRules[] = {
    {"decoder.embed_tokens.weight", "token_embd.weight"},
    {"decoder.embed_positions.weight", "position_embd.weight",
     used_opt_positions},
    {"decoder.final_layer_norm.@", "output_norm.@"},
    {"lm_head.weight", "output.weight"},
    {"decoder.layers.*.self_attn_layer_norm.@", "blk.*.attn_norm.@"},
    {"decoder.layers.*.self_attn.q_proj.@", "blk.*.attn_q.@"},
    {"decoder.layers.*.self_attn.k_proj.@", "blk.*.attn_k.@"},
    {"decoder.layers.*.self_attn.v_proj.@", "blk.*.attn_v.@"},
    {"decoder.layers.*.self_attn.out_proj.@", "blk.*.attn_output.@"},
    {"decoder.layers.*.final_layer_norm.@", "blk.*.ffn_norm.@"},
    {"decoder.layers.*.fc1.@", "blk.*.ffn_up.@"},
    {"decoder.layers.*.fc2.@", "blk.*.ffn_down.@"},
};

void describe_opt(Description& model) {
  const Config& config = model.config();
  add_activation(model, "activation_function", {"relu"});
  expect_flag(config, "do_layer_norm_before", true);
  expect_flag(config, "_remove_final_layer_norm", false);
  expect_flag(config, "layer_norm_elementwise_affine", true);
  expect_number(config, "word_embed_proj_dim",
                static_cast<double>(config.get_int("hidden_size")));
  add_decoder_sizes(
      model, {.layer_norm = "layer_norm_eps", .feed_forward = "ffn_dim"});
}

}  // namespace

constexpr Architecture kOpt = {
    .model_type = "opt",
    .name = "opt",
    .defaults = R"({"layer_norm_eps": 1e-5, "max_position_embeddings": 2048,
                    "tie_word_embeddings": true})",
    .renames = {{"model.decoder.", "decoder."}, {}},
    .rules = {kOptRules},
    .describe = describe_opt,
};

}  // namespace rc::folder
