// GPT-J, and CodeGen, which has queries, keys and values in one tensor.
#include "base/checked.h"
#include "files/folder/architectures/list.h"

namespace rc::folder {
namespace {

constexpr Rule kGptJAttentionRules[] = {
    {"transformer.h.*.attn.q_proj.weight", "blk.*.attn_q.weight"},
    {"transformer.h.*.attn.k_proj.weight", "blk.*.attn_k.weight"},
    {"transformer.h.*.attn.v_proj.weight", "blk.*.attn_v.weight"},
};

// The tensor has for each quarter of the heads the queries, then the values,
// then the keys. Returns one of these, by its number.
TensorView part_of_quarters(const Config& config,
                            const safetensors::Place& source, size_t part) {
  const int64_t rows = config.get_int("n_embd") / 4;
  const int64_t parts[] = {rows, rows, rows};
  return parts_of_groups(source, 4, parts, part, 1);
}
TensorView quarter_queries(const Config& config,
                           const safetensors::Place& source) {
  return part_of_quarters(config, source, 0);
}
TensorView quarter_values(const Config& config,
                          const safetensors::Place& source) {
  return part_of_quarters(config, source, 1);
}
TensorView quarter_keys(const Config& config,
                        const safetensors::Place& source) {
  return part_of_quarters(config, source, 2);
}

constexpr Rule kCodeGenAttentionRules[] = {
    {"transformer.h.*.attn.qkv_proj.weight", "blk.*.attn_q.weight",
     quarter_queries},
    {"transformer.h.*.attn.qkv_proj.weight", "blk.*.attn_k.weight",
     quarter_keys},
    {"transformer.h.*.attn.qkv_proj.weight", "blk.*.attn_v.weight",
     quarter_values},
    // Masks of causal attention, from old folders.
    {"transformer.h.*.attn.causal_mask", ""},
};

constexpr Rule kGptJRules[] = {
    {"transformer.wte.weight", "token_embd.weight"},
    {"transformer.ln_f.@", "output_norm.@"},
    {"lm_head.@", "output.@"},
    {"transformer.h.*.ln_1.@", "blk.*.attn_norm.@"},
    {"transformer.h.*.attn.out_proj.weight", "blk.*.attn_output.weight"},
    {"transformer.h.*.mlp.fc_in.@", "blk.*.ffn_up.@"},
    {"transformer.h.*.mlp.fc_out.@", "blk.*.ffn_down.@"},
    // Masks of attention, from old folders.
    {"transformer.h.*.attn.bias", ""},
    {"transformer.h.*.attn.masked_bias", ""},
};

void describe_gptj(Description& model) {
  const Config& config = model.config();
  add_activation(model, "activation_function",
                 {"gelu_new", "gelu_pytorch_tanh", "gelu_fast"});
  const int64_t width = config.get_int("n_embd");
  model.add_int("block_count", config.get_int("n_layer"));
  model.add_int("context_length", config.get_int("n_positions"));
  model.add_int("embedding_length", width);
  const auto inner = config.find_int("n_inner");
  model.add_int("feed_forward_length",
                inner ? *inner : checked_mul(width, int64_t{4}).value_or(-1));
  model.add_int("attention.head_count", config.get_int("n_head"));
  model.add_number("attention.layer_norm_epsilon",
                   config.get_number("layer_norm_epsilon"));
  model.add_int("rope.dimension_count", config.get_int("rotary_dim"));
}

constexpr std::string_view kGptJDefaults =
    R"({"layer_norm_epsilon": 1e-5, "n_positions": 2048, "n_embd": 4096,
        "n_layer": 28, "n_head": 16, "rotary_dim": 64,
        "tie_word_embeddings": false})";

}  // namespace

constexpr Architecture kGptJ = {
    .model_type = "gptj",
    .name = "gptj",
    .defaults = kGptJDefaults,
    .rules = {kGptJRules, kGptJAttentionRules},
    .describe = describe_gptj,
};

constexpr Architecture kCodeGen = {
    .model_type = "codegen",
    .name = "gptj",
    .defaults = kGptJDefaults,
    .rules = {kGptJRules, kCodeGenAttentionRules},
    .describe = describe_gptj,
};

}  // namespace rc::folder
