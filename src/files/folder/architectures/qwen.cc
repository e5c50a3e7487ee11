// Qwen 1: one matrix for queries, keys and values.
#include "files/folder/architectures/list.h"

namespace rc::folder {
namespace {

constexpr Rule kQwenRules[] = {
    {"transformer.wte.weight", "token_embd.weight"},
    {"transformer.ln_f.weight", "output_norm.weight"},
    {"lm_head.weight", "output.weight"},
    {"transformer.h.*.ln_1.weight", "blk.*.attn_norm.weight"},
    {"transformer.h.*.ln_2.weight", "blk.*.ffn_norm.weight"},
    {"transformer.h.*.attn.c_attn.@", "blk.*.attn_qkv.@"},
    {"transformer.h.*.attn.c_proj.weight", "blk.*.attn_output.weight"},
    {"transformer.h.*.mlp.w1.weight", "blk.*.ffn_up.weight"},
    {"transformer.h.*.mlp.w2.weight", "blk.*.ffn_gate.weight"},
    {"transformer.h.*.mlp.c_proj.weight", "blk.*.ffn_down.weight"},
    // The plain rotary frequencies, from old folders.
    {"transformer.rotary_emb.inv_freq", ""},
    {"transformer.h.*.attn.rotary_emb.inv_freq", ""},
};

void describe_qwen(Description& model) {
  const Config& config = model.config();
  expect_number(config, "rotary_pct", 1.0);
  model.add_int("block_count", layer_count(config));
  // Sequences may be longer, but are computed otherwise then.
  model.add_int("context_length", config.get_int("seq_length"));
  model.add_int("embedding_length", config.get_int("hidden_size"));
  model.add_int("feed_forward_length", config.get_int("intermediate_size"));
  const int64_t heads = config.get_int("num_attention_heads");
  model.add_int("attention.head_count", heads);
  model.add_int("attention.head_count_kv", heads);
  model.add_number("attention.layer_norm_rms_epsilon",
                   config.get_number("layer_norm_epsilon"));
  add_rope(model, {.rope_base = "rotary_emb_base"});
}

}  // namespace

constexpr Architecture kQwen = {
    .model_type = "qwen",
    .name = "qwen",
    .defaults = R"({"seq_length": 8192, "layer_norm_epsilon": 1e-6,
                    "tie_word_embeddings": false})",
    .rules = {kQwenRules},
    .describe = describe_qwen,
};

}  // namespace rc::folder
