// DBRX: the matrices of all experts are one tensor.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

Config part_of(const Config& config, std::string_view name) {
  auto part = config.find_object(name);
  if (!part) config.refuse(RC_E_FORMAT, name, " is missing");
  part->add_defaults(R"({"model_type": "dbrx"})");  // what messages name
  return *std::move(part);
}

// [experts * size, width] becomes [experts, size, width] or, turned,
// [experts, width, size].
TensorView by_experts(const Config& config, const safetensors::Place& source,
                      bool turned) {
  TensorView view = whole(source);
  const int64_t experts =
      part_of(config, "ffn_config").get_int("moe_num_experts");
  if (view.shape.size() != 2 || experts < 1 ||
      experts > static_cast<int64_t>(kMaxExperts) ||
      view.shape[0] % experts != 0) {
    refuse_shape(source, cat("that of matrices of ", experts,
                             " experts (at most ", kMaxExperts, ")"));
  }
  view.rows /= static_cast<uint64_t>(experts);
  view.shape = {experts, static_cast<int64_t>(view.rows),
                static_cast<int64_t>(view.columns)};
  const uint64_t each = view.rows * view.columns;
  Slab slab = view.slabs[0];
  if (turned) {
    std::swap(view.rows, view.columns);
    std::swap(view.shape[1], view.shape[2]);
    slab.row_stride = 1;
    slab.column_stride = view.rows;
  }
  view.slabs.clear();
  for (int64_t i = 0; i < experts; ++i) {
    view.slabs.push_back(slab);
    slab.first += each;
  }
  return view;
}

TensorView expert_rows(const Config& config, const safetensors::Place& source) {
  return by_experts(config, source, false);
}
TensorView expert_columns(const Config& config,
                          const safetensors::Place& source) {
  return by_experts(config, source, true);
}

constexpr Rule kDbrxRules[] = {
    {"transformer.wte.weight", "token_embd.weight"},
    {"transformer.norm_f.weight", "output_norm.weight"},
    {"lm_head.weight", "output.weight"},
    {"transformer.blocks.*.norm_attn_norm.norm_1.weight",
     "blk.*.attn_norm.weight"},
    {"transformer.blocks.*.norm_attn_norm.norm_2.weight",
     "blk.*.attn_output_norm.weight"},
    {"transformer.blocks.*.norm_attn_norm.attn.Wqkv.weight",
     "blk.*.attn_qkv.weight"},
    {"transformer.blocks.*.norm_attn_norm.attn.out_proj.weight",
     "blk.*.attn_output.weight"},
    {"transformer.blocks.*.ffn.router.layer.weight",
     "blk.*.ffn_gate_inp.weight"},
    {"transformer.blocks.*.ffn.experts.mlp.w1", "blk.*.ffn_gate_exps.weight",
     expert_rows},
    {"transformer.blocks.*.ffn.experts.mlp.v1", "blk.*.ffn_up_exps.weight",
     expert_rows},
    {"transformer.blocks.*.ffn.experts.mlp.w2", "blk.*.ffn_down_exps.weight",
     expert_columns},
};

void describe_dbrx(Description& model) {
  const Config& config = model.config();
  const Config attention = part_of(config, "attn_config");
  const Config experts = part_of(config, "ffn_config");
  if (auto function = experts.find_object("ffn_act_fn")) {
    function->add_defaults(R"({"model_type": "dbrx"})");
    expect_text(*function, "name", {"silu"});
  }
  expect_number(experts, "moe_normalize_expert_weights", 1);
  model.add_int("block_count", config.get_int("n_layers"));
  model.add_int("context_length", config.get_int("max_seq_len"));
  model.add_int("embedding_length", config.get_int("d_model"));
  model.add_int("feed_forward_length", experts.get_int("ffn_hidden_size"));
  model.add_int("attention.head_count", config.get_int("n_heads"));
  model.add_int("attention.head_count_kv",
                attention.find_int("kv_n_heads").value_or(1));
  // No member says it.
  model.add_number("attention.layer_norm_epsilon", 1e-5);
  if (const auto limit = attention.find_number("clip_qkv")) {
    model.add_number("attention.clamp_kqv", *limit);
  }
  const auto rope = config.find_object("rope_parameters");
  if (rope) expect_plain_rope(*rope);
  model.add_number(
      "rope.freq_base",
      (rope ? *rope : attention).find_number("rope_theta").value_or(10000.0));
  model.add_int("expert_count", experts.get_int("moe_num_experts"));
  model.add_int("expert_used_count", experts.get_int("moe_top_k"));
}

}  // namespace

constexpr Architecture kDbrx = {
    .model_type = "dbrx",
    .name = "dbrx",
    .defaults = R"({"max_seq_len": 2048, "n_layers": 24, "n_heads": 16,
                    "d_model": 2048, "tie_word_embeddings": false})",
    .rules = {kDbrxRules},
    .describe = describe_dbrx,
};

}  // namespace rc::folder
