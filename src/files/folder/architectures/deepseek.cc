// DeepSeekMoE, and Ling, whose queries, keys and values are one matrix.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

// Experts behind some dense layers, and others that are always used.
void add_always_used_experts(Description& model, const ExpertKeys& keys,
                             std::string_view shared) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  add_decoder(model);
  add_experts(model, keys);
  model.add_int("expert_shared_count", config.find_int(shared).value_or(0));
  model.add_int("leading_dense_block_count",
                config.find_int("first_k_dense_replace").value_or(0));
  model.add_flag("expert_weights_norm",
                 config.find_flag("norm_topk_prob").value_or(false));
}

void describe_deepseek(Description& model) {
  const Config& config = model.config();
  expect_text(config, "scoring_func", {"softmax"});
  expect_number(config, "moe_layer_freq", 1);
  add_always_used_experts(model, {.count = "n_routed_experts"},
                          "n_shared_experts");
}

void describe_bailing(Description& model) {
  const Config& config = model.config();
  for (const char* key :
       {"norm_head", "norm_softmax", "use_bias", "use_qkv_bias"}) {
    expect_flag(config, key, false);
  }
  expect_number(config, "first_k_dense_replace", 0);
  add_always_used_experts(model, {}, "num_shared_experts");
}

// Queries, keys or values: part 0, 1 or 2. The rows of what rotates are put
// into pairs.
TensorView bailing_part(const Config& config, const safetensors::Place& source,
                        size_t part) {
  const int64_t size = head_size(config);
  const int64_t heads = config.get_int("num_attention_heads");
  const int64_t groups = config.find_int("num_key_value_heads").value_or(heads);
  constexpr int64_t kMost = 65536;
  for (const int64_t count : {size, heads, groups}) {
    if (count < 1 || count > kMost) {
      refuse_shape(source, cat("that of heads: 1 to ", kMost,
                               " heads and elements are possible"));
    }
  }
  const int64_t parts[] = {heads * size, groups * size, groups * size};
  TensorView view = parts_of_groups(source, 1, parts, part, 1);
  if (part == 2) return view;
  if (size % 2 != 0) refuse_shape(source, "pairs of rows for each head");
  view.heads = view.rows / static_cast<uint64_t>(size);  // of each slab
  return view;
}

TensorView bailing_queries(const Config& config,
                           const safetensors::Place& source) {
  return bailing_part(config, source, 0);
}
TensorView bailing_keys(const Config& config,
                        const safetensors::Place& source) {
  return bailing_part(config, source, 1);
}
TensorView bailing_values(const Config& config,
                          const safetensors::Place& source) {
  return bailing_part(config, source, 2);
}

constexpr Rule kBailingRules[] = {
    {"model.word_embeddings.weight", "token_embd.weight"},
    {"lm_head.weight", "output.weight"},
    {"model.layers.*.attention.query_key_value.weight", "blk.*.attn_q.weight",
     bailing_queries},
    {"model.layers.*.attention.query_key_value.weight", "blk.*.attn_k.weight",
     bailing_keys},
    {"model.layers.*.attention.query_key_value.weight", "blk.*.attn_v.weight",
     bailing_values},
    {"model.layers.*.attention.dense.weight", "blk.*.attn_output.weight"},
};

}  // namespace

constexpr Architecture kDeepSeek = {
    .model_type = "deepseek",
    .name = "deepseek",
    .defaults = R"({"max_position_embeddings": 2048, "rms_norm_eps": 1e-6,
                    "scoring_func": "softmax", "first_k_dense_replace": 0,
                    "norm_topk_prob": false, "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kPairedAttentionRules, kNormRules, kExpertRules,
              kSelectedExpertRules},
    .describe = describe_deepseek,
};

constexpr Architecture kBailingMoe = {
    .model_type = "bailing_moe",
    .name = "bailingmoe",
    .defaults = R"({"max_position_embeddings": 16384, "rms_norm_eps": 1e-5,
                    "num_shared_experts": 0, "norm_topk_prob": true,
                    "tie_word_embeddings": false})",
    .rules = {kBailingRules, kNormRules, kExpertRules, kSelectedExpertRules},
    .describe = describe_bailing,
};

}  // namespace rc::folder
