// Nomic BERT. Folders from before transformers had it say sizes by other names.
#include <utility>

#include "files/folder/architectures/list.h"

namespace rc::folder {
namespace {

// The rows of all experts, one expert's after the other's.
TensorView rows_of_experts(const Config& config,
                           const safetensors::Place& source) {
  TensorView view = whole(source);
  const int64_t experts = config.get_int("num_experts");
  if (view.shape.size() != 2 || experts < 1 ||
      experts > static_cast<int64_t>(kMaxExperts) ||
      view.shape[0] % experts != 0) {
    refuse_shape(source, cat("that of the rows of 1 to ", kMaxExperts,
                             " experts, of which num_experts says ", experts));
  }
  view.shape = {experts, view.shape[0] / experts, view.shape[1]};
  return view;
}

TensorView nomic_expert_rows(const Config& config,
                             const safetensors::Place& source) {
  return rows_of_experts(config, source);
}

TensorView turned_expert_rows(const Config& config,
                              const safetensors::Place& source) {
  TensorView view = rows_of_experts(config, source);
  const auto inner = static_cast<uint64_t>(view.shape[1]);
  const auto width = static_cast<uint64_t>(view.shape[2]);
  std::swap(view.shape[1], view.shape[2]);
  view.rows = width;
  view.columns = inner;
  view.slabs.clear();
  for (uint64_t e = 0; e < static_cast<uint64_t>(view.shape[0]); ++e) {
    view.slabs.push_back({source, e * inner * width, 1, width});
  }
  return view;
}

constexpr Rule kNomicBertRules[] = {
    {"embeddings.word_embeddings.weight", "token_embd.weight"},
    {"embeddings.token_type_embeddings.weight", "token_types.weight"},
    {"emb_ln.@", "token_embd_norm.@"},
    {"encoder.layers.*.attn.Wqkv.weight", "blk.*.attn_qkv.weight"},
    {"encoder.layers.*.attn.out_proj.weight", "blk.*.attn_output.weight"},
    {"encoder.layers.*.norm1.@", "blk.*.attn_output_norm.@"},
    {"encoder.layers.*.mlp.fc11.weight", "blk.*.ffn_up.weight"},
    {"encoder.layers.*.mlp.fc12.weight", "blk.*.ffn_gate.weight"},
    {"encoder.layers.*.mlp.fc2.weight", "blk.*.ffn_down.weight"},
    {"encoder.layers.*.norm2.@", "blk.*.layer_output_norm.@"},
    // With experts.
    {"encoder.layers.*.attn.Wqkv.bias", "blk.*.attn_qkv.bias"},
    {"encoder.layers.*.attn.out_proj.bias", "blk.*.attn_output.bias"},
    {"encoder.layers.*.mlp.fc1.@", "blk.*.ffn_up.@"},
    {"encoder.layers.*.mlp.fc2.bias", "blk.*.ffn_down.bias"},
    {"encoder.layers.*.mlp.router.layer.weight", "blk.*.ffn_gate_inp.weight"},
    {"encoder.layers.*.mlp.experts.mlp.w1", "blk.*.ffn_up_exps.weight",
     nomic_expert_rows},
    {"encoder.layers.*.mlp.experts.mlp.w2", "blk.*.ffn_down_exps.weight",
     turned_expert_rows},
    {"encoder.layers.*.mlp.experts.bias", "blk.*.ffn_down_exps.bias"},
    // The head behind the last layer.
    {"pooler.dense.@", ""},
    {"cls.%", ""},
};

bool nomic_has_experts(const Config& config) {
  return config.find_int("moe_every_n_layers").value_or(0) > 0;
}

void describe_nomic_bert(Description& model) {
  const Config& config = model.config();
  if (nomic_has_experts(config)) {
    expect_text(config, "activation_function", {"gelu"});
    expect_flag(config, "expert_choice_router", false);
    expect_flag(config, "moe_normalize_expert_weights", false);
    model.add_int("moe_every_n_layers", config.get_int("moe_every_n_layers"));
    model.add_int("expert_count", config.get_int("num_experts"));
    model.add_int("expert_used_count", config.get_int("moe_top_k"));
  } else {
    expect_text(config, "hidden_act", {"silu"});
    expect_text(config, "activation_function", {"swiglu"});
    expect_flag(config, "qkv_proj_bias", false);
    expect_flag(config, "mlp_fc1_bias", false);
    expect_flag(config, "mlp_fc2_bias", false);
  }
  expect_flag(config, "prenorm", false);
  expect_flag(config, "rotary_emb_interleaved", false);
  expect_number(config, "rotary_emb_fraction", 1.0);
  const auto size = [&](std::string_view key, std::string_view old) {
    const auto given = config.find_int(key);
    return given ? *given : config.get_int(config.has(old) ? old : key);
  };
  model.add_int("block_count", size("num_hidden_layers", "n_layer"));
  model.add_int("context_length",
                size("max_position_embeddings", "n_positions"));
  model.add_int("embedding_length", size("hidden_size", "n_embd"));
  model.add_int("feed_forward_length", size("intermediate_size", "n_inner"));
  model.add_int("attention.head_count", size("num_attention_heads", "n_head"));
  const auto epsilon = config.find_number("layer_norm_eps");
  model.add_number(
      "attention.layer_norm_epsilon",
      epsilon ? *epsilon
              : config.find_number("layer_norm_epsilon").value_or(1e-12));
  model.add_flag("attention.causal", false);
  double base = config.find_number("rotary_emb_base").value_or(1000.0);
  if (const auto rope = config.find_object("rope_parameters")) {
    expect_plain_rope(*rope);
    base = rope->find_number("rope_theta").value_or(base);
  }
  model.add_number("rope.freq_base", base);
}

}  // namespace

constexpr Architecture kNomicBertMoe = {
    .model_type = "nomic_bert",
    .applies = nomic_has_experts,
    .name = "nomic-bert-moe",
    .renames = {{"nomic_bert.", ""}, {"bert.", ""}},
    .rules = {kNomicBertRules},
    .describe = describe_nomic_bert,
    .gives_hidden_rows = true,
};

constexpr Architecture kNomicBert = {
    .model_type = "nomic_bert",
    .name = "nomic-bert",
    .renames = {{"nomic_bert.", ""}, {"bert.", ""}},
    .rules = {kNomicBertRules},
    .describe = describe_nomic_bert,
    .gives_hidden_rows = true,
};

}  // namespace rc::folder
