// InternLM 2 and 2.5: one matrix with the queries, then the keys, then the
// values of each group of heads.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

// Of each group the queries, the keys or the values: part 0, 1 or 2. The rows
// of what rotates are put into pairs.
TensorView heads_of_groups(const Config& config,
                           const safetensors::Place& source, size_t part,
                           bool paired) {
  const int64_t groups = config.find_int("num_key_value_heads")
                             .value_or(config.get_int("num_attention_heads"));
  const int64_t heads = config.get_int("num_attention_heads");
  constexpr int64_t kMost = 65536;
  if (groups < 1 || heads < groups || heads > kMost || heads % groups != 0) {
    config.refuse(RC_E_FORMAT, "num_attention_heads", " is ", heads,
                  "; a multiple of num_key_value_heads, ", groups,
                  ", and at most ", kMost, " is possible");
  }
  const int64_t size = head_size(config);
  if (size < 1 || size > kMost) {
    refuse_shape(source, cat("that of heads of 1 to ", kMost, " elements"));
  }
  const int64_t parts[] = {heads / groups * size, size, size};
  TensorView view = parts_of_groups(source, groups, parts, part, 1);
  if (paired) {
    if (size % 2 != 0) refuse_shape(source, "pairs of rows for each head");
    view.heads = 1;  // of each slab
  }
  return view;
}

TensorView group_queries(const Config& config,
                         const safetensors::Place& source) {
  return heads_of_groups(config, source, 0, true);
}
TensorView group_keys(const Config& config, const safetensors::Place& source) {
  return heads_of_groups(config, source, 1, true);
}
TensorView group_values(const Config& config,
                        const safetensors::Place& source) {
  return heads_of_groups(config, source, 2, false);
}

constexpr Rule kInternLmRules[] = {
    {"model.tok_embeddings.weight", "token_embd.weight"},
    {"output.weight", "output.weight"},
    {"model.norm.weight", "output_norm.weight"},
    {"model.layers.*.attention_norm.weight", "blk.*.attn_norm.weight"},
    {"model.layers.*.ffn_norm.weight", "blk.*.ffn_norm.weight"},
    {"model.layers.*.attention.wqkv.@", "blk.*.attn_q.@", group_queries},
    {"model.layers.*.attention.wqkv.@", "blk.*.attn_k.@", group_keys},
    {"model.layers.*.attention.wqkv.@", "blk.*.attn_v.@", group_values},
    {"model.layers.*.attention.wo.@", "blk.*.attn_output.@"},
    {"model.layers.*.feed_forward.w1.weight", "blk.*.ffn_gate.weight"},
    {"model.layers.*.feed_forward.w2.weight", "blk.*.ffn_down.weight"},
    {"model.layers.*.feed_forward.w3.weight", "blk.*.ffn_up.weight"},
    // The plain rotary frequencies, from old folders.
    {"model.layers.*.attention.rotary_emb.inv_freq", ""},
};

void describe_internlm2(Description& model) {
  expect_text(model.config(), "hidden_act", {"silu"});
  add_decoder(model);
}

}  // namespace

constexpr Architecture kInternLm2 = {
    .model_type = "internlm2",
    .name = "internlm2",
    .defaults = R"({"max_position_embeddings": 2048, "rms_norm_eps": 1e-6,
                    "tie_word_embeddings": false})",
    .rules = {kInternLmRules},
    .describe = describe_internlm2,
};

}  // namespace rc::folder
