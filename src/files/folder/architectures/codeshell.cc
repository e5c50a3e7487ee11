// CodeShell: one matrix for queries, keys and values.
#include "base/checked.h"
#include "files/folder/architectures/list.h"

namespace rc::folder {
namespace {

constexpr Rule kCodeShellRules[] = {
    {"transformer.wte.weight", "token_embd.weight"},
    {"transformer.ln_f.@", "output_norm.@"},
    {"lm_head.weight", "output.weight"},
    {"transformer.h.*.ln_1.@", "blk.*.attn_norm.@"},
    {"transformer.h.*.ln_2.@", "blk.*.ffn_norm.@"},
    {"transformer.h.*.attn.c_attn.@", "blk.*.attn_qkv.@"},
    {"transformer.h.*.attn.c_proj.@", "blk.*.attn_output.@"},
    {"transformer.h.*.mlp.c_fc.@", "blk.*.ffn_up.@"},
    {"transformer.h.*.mlp.c_proj.@", "blk.*.ffn_down.@"},
    // The plain rotary frequencies, from old folders.
    {"transformer.h.*.attn.rotary_emb.inv_freq", ""},
};

void describe_codeshell(Description& model) {
  const Config& config = model.config();
  add_activation(model, "activation_function",
                 {"gelu_new", "gelu_pytorch_tanh", "gelu_fast"});
  expect_text(config, "position_embedding_type", {"rope"});
  expect_none(config, "rope_scaling");
  const int64_t width = config.get_int("n_embd");
  model.add_int("block_count", config.get_int("n_layer"));
  model.add_int("context_length", config.get_int("n_positions"));
  model.add_int("embedding_length", width);
  const auto inner = config.find_int("n_inner");
  model.add_int("feed_forward_length",
                inner ? *inner : checked_mul(width, int64_t{4}).value_or(-1));
  model.add_int("attention.head_count", config.get_int("n_head"));
  model.add_int("attention.head_count_kv", config.get_int("num_query_groups"));
  model.add_number("attention.layer_norm_epsilon",
                   config.get_number("layer_norm_epsilon"));
}

}  // namespace

constexpr Architecture kCodeShell = {
    .model_type = "codeshell",
    .name = "codeshell",
    .defaults = R"({"layer_norm_epsilon": 1e-5, "n_positions": 8192,
                    "n_embd": 4096, "n_layer": 42, "n_head": 32,
                    "num_query_groups": 8, "tie_word_embeddings": false})",
    .rules = {kCodeShellRules},
    .describe = describe_codeshell,
};

}  // namespace rc::folder
