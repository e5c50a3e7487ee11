// Qwen3-Next and Qwen3.5: the gated delta rule, with every fourth layer
// attention that has a gate.
#include <algorithm>
#include <numeric>

#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

struct Heads {
  int64_t groups;  // heads of keys
  int64_t each;    // heads of values for each
  int64_t key;     // elements of one
  int64_t value;   // elements of one
};

Heads heads_of(const Config& config) {
  constexpr int64_t kMost = 4096;
  const auto get = [&](std::string_view key) {
    const int64_t count = config.get_int(key);
    if (count < 1 || count > kMost) {
      config.refuse(RC_E_FORMAT, key, " is ", count, "; 1 to ", kMost,
                    " are possible");
    }
    return count;
  };
  const int64_t groups = get("linear_num_key_heads");
  const int64_t heads = get("linear_num_value_heads");
  if (heads % groups != 0) {
    config.refuse(RC_E_FORMAT, "linear_num_value_heads", " is ", heads,
                  ", which is no multiple of linear_num_key_heads, ", groups);
  }
  return {groups, heads / groups, get("linear_key_head_dim"),
          get("linear_value_head_dim")};
}

// Queries, keys, values and gates of each head of keys.
TensorView split(const Config& config, const safetensors::Place& source,
                 size_t first, size_t count) {
  const Heads heads = heads_of(config);
  const int64_t values = heads.each * heads.value;
  const int64_t parts[] = {heads.key, heads.key, values, values};
  return parts_of_groups(source, heads.groups, parts, first, count);
}
TensorView queries_keys_values(const Config& config,
                               const safetensors::Place& source) {
  return split(config, source, 0, 3);
}
TensorView qwen_gates(const Config& config, const safetensors::Place& source) {
  return split(config, source, 3, 1);
}

// Heads of values lie by heads of keys, and are to be interleaved: the first
// ones of all come first. `before` rows stay where they are.
TensorView interleaved(const Config& config, const safetensors::Place& source,
                       bool with_keys, bool of_heads) {
  const Heads heads = heads_of(config);
  const int64_t size = of_heads ? 1 : heads.value;
  const int64_t before = with_keys ? 2 * heads.groups * heads.key : 0;
  const int64_t count = heads.groups * heads.each;
  TensorView view = whole(source);
  if (view.shape.size() > 3 || view.shape[0] != before + count * size) {
    refuse_shape(source, cat(before + count * size, " rows"));
  }
  view.columns = 1;
  for (size_t i = 1; i < view.shape.size(); ++i) {
    view.columns *= static_cast<uint64_t>(view.shape[i]);
  }
  const int64_t step = before == 0 ? size : std::gcd(heads.key, size);
  view.rows = static_cast<uint64_t>(step);
  view.slabs.clear();
  const auto add = [&](int64_t first, int64_t rows) {
    for (int64_t row = 0; row < rows; row += step) {
      view.slabs.push_back({source,
                            static_cast<uint64_t>(first + row) * view.columns,
                            view.columns, 1});
    }
  };
  add(0, before);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t head = i % heads.groups * heads.each + i / heads.groups;
    add(before + head * size, size);
  }
  if (view.shape.size() == 1) view.dtype = RC_DTYPE_F32;
  return view;
}
TensorView values_behind_keys(const Config& config,
                              const safetensors::Place& source) {
  return interleaved(config, source, true, false);
}
TensorView values(const Config& config, const safetensors::Place& source) {
  return interleaved(config, source, false, false);
}
TensorView numbers(const Config& config, const safetensors::Place& source) {
  return interleaved(config, source, false, true);
}
TensorView interleaved_decays(const Config& config,
                              const safetensors::Place& source) {
  TensorView view = numbers(config, source);
  view.change = Change::kMinusExp;
  return view;
}
TensorView interleaved_convolution(const Config& config,
                                   const safetensors::Place& source) {
  TensorView view = values_behind_keys(config, source);
  if (view.shape.size() != 3 || view.shape[1] != 1) {
    refuse_shape(source, "a convolution of each channel by itself");
  }
  view.shape.erase(view.shape.begin() + 1);
  view.dtype = RC_DTYPE_F32;
  return view;
}
TensorView interleaved_columns(const Config& config,
                               const safetensors::Place& source) {
  const Heads heads = heads_of(config);
  TensorView view = as_it_is(config, source);
  const int64_t columns = heads.groups * heads.each * heads.value;
  if (view.shape.size() != 2 || view.shape[1] != columns) {
    refuse_shape(source, cat("a matrix of ", columns, " columns"));
  }
  view.pieces = {static_cast<uint64_t>(heads.groups),
                 static_cast<uint64_t>(heads.each),
                 static_cast<uint64_t>(heads.value)};
  return view;
}

constexpr Rule kDeltaRules[] = {
    {"model.norm.weight", "output_norm.weight", plus_one},
    {"model.layers.*.input_layernorm.weight", "blk.*.attn_norm.weight",
     plus_one},
    {"model.layers.*.post_attention_layernorm.weight",
     "blk.*.post_attention_norm.weight", plus_one},
    {"model.layers.*.self_attn.q_norm.weight", "blk.*.attn_q_norm.weight",
     plus_one},
    {"model.layers.*.self_attn.k_norm.weight", "blk.*.attn_k_norm.weight",
     plus_one},
    {"model.layers.*.linear_attn.norm.weight", "blk.*.ssm_norm.weight"},
    // Of layers that guess further tokens.
    {"mtp.%", ""},
};

constexpr Rule kQwen3NextRules[] = {
    {"model.layers.*.linear_attn.in_proj_qkvz.weight", "blk.*.attn_qkv.weight",
     queries_keys_values},
    {"model.layers.*.linear_attn.in_proj_qkvz.weight", "blk.*.attn_gate.weight",
     qwen_gates},
    {"model.layers.*.linear_attn.in_proj_ba.weight", "blk.*.ssm_ba.weight"},
    {"model.layers.*.linear_attn.conv1d.weight", "blk.*.ssm_conv1d.weight",
     convolution},
    {"model.layers.*.linear_attn.dt_bias", "blk.*.ssm_dt.bias"},
    {"model.layers.*.linear_attn.A_log", "blk.*.ssm_a", decays},
    {"model.layers.*.linear_attn.out_proj.weight", "blk.*.ssm_out.weight"},
};

constexpr Rule kQwen35Rules[] = {
    {"model.layers.*.linear_attn.in_proj_qkv.weight", "blk.*.attn_qkv.weight",
     values_behind_keys},
    {"model.layers.*.linear_attn.in_proj_z.weight", "blk.*.attn_gate.weight",
     values},
    {"model.layers.*.linear_attn.in_proj_b.weight", "blk.*.ssm_beta.weight",
     numbers},
    {"model.layers.*.linear_attn.in_proj_a.weight", "blk.*.ssm_alpha.weight",
     numbers},
    {"model.layers.*.linear_attn.conv1d.weight", "blk.*.ssm_conv1d.weight",
     interleaved_convolution},
    {"model.layers.*.linear_attn.dt_bias", "blk.*.ssm_dt.bias", numbers},
    {"model.layers.*.linear_attn.A_log", "blk.*.ssm_a", interleaved_decays},
    {"model.layers.*.linear_attn.out_proj.weight", "blk.*.ssm_out.weight",
     interleaved_columns},
    // The part that reads pictures.
    {"model.visual.%", ""},
};

constexpr Rule kStackedExpertRules[] = {
    {"model.layers.*.mlp.experts.gate_up_proj", "blk.*.ffn_gate_exps.weight",
     first_half},
    {"model.layers.*.mlp.experts.gate_up_proj", "blk.*.ffn_up_exps.weight",
     second_half},
    {"model.layers.*.mlp.experts.down_proj", "blk.*.ffn_down_exps.weight"},
    {"model.layers.*.mlp.gate.weight", "blk.*.ffn_gate_inp.weight"},
    {"model.layers.*.mlp.experts.*.gate_proj.weight",
     "blk.*.ffn_gate_exps.weight"},
    {"model.layers.*.mlp.experts.*.up_proj.weight", "blk.*.ffn_up_exps.weight"},
    {"model.layers.*.mlp.experts.*.down_proj.weight",
     "blk.*.ffn_down_exps.weight"},
};

// Of each so many layers the last one attends.
int64_t interval_of(const Config& config) {
  const auto given = config.find_int("full_attention_interval");
  const auto types = config.find_texts("layer_types");
  int64_t interval = given.value_or(4);
  if (types && !given) {
    const auto first = std::ranges::find(*types, "full_attention");
    interval = first - types->begin() + 1;
  }
  if (interval < 1) {
    config.refuse(RC_E_FORMAT, "full_attention_interval", " is ", interval,
                  ", but must be at least 1");
  }
  if (!types) return interval;
  for (size_t i = 0; i < types->size(); ++i) {
    const bool attends = (static_cast<int64_t>(i) + 1) % interval == 0;
    if ((*types)[i] == (attends ? "full_attention" : "linear_attention")) {
      continue;
    }
    config.refuse(RC_E_UNSUPPORTED, "layer_types", "[", i, "] is ",
                  quote((*types)[i]), "; of each ", interval,
                  " layers the last one has full_attention, the others "
                  "linear_attention");
  }
  return interval;
}

void add_delta_decoder(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_flag(config, "attention_bias", false);
  add_decoder(model, {.rotated_part = "partial_rotary_factor"});
  const Heads heads = heads_of(config);
  model.add_int("full_attention_interval", interval_of(config));
  model.add_int("ssm.conv_kernel", config.get_int("linear_conv_kernel_dim"));
  model.add_int("ssm.state_size", heads.key);
  model.add_int("ssm.group_count", heads.groups);
  model.add_int("ssm.time_step_rank", heads.groups * heads.each);
  model.add_int("ssm.inner_size", heads.groups * heads.each * heads.value);
}

void add_delta_experts(Description& model) {
  const Config& config = model.config();
  expect_experts_everywhere(config);
  expect_flag(config, "norm_topk_prob", true);
  add_experts(model);
  model.add_int("expert_shared_feed_forward_length",
                config.get_int("shared_expert_intermediate_size"));
}

void describe_delta_experts(Description& model) {
  add_delta_decoder(model);
  add_delta_experts(model);
}

constexpr std::string_view kQwen35Defaults =
    R"({"max_position_embeddings": 32768, "rms_norm_eps": 1e-6,
        "num_key_value_heads": 4, "head_dim": 256,
        "partial_rotary_factor": 0.25, "linear_conv_kernel_dim": 4,
        "linear_key_head_dim": 128, "linear_value_head_dim": 128,
        "linear_num_key_heads": 16, "linear_num_value_heads": 32,
        "tie_word_embeddings": false})";
constexpr std::string_view kQwen35MoeDefaults =
    R"({"max_position_embeddings": 32768, "rms_norm_eps": 1e-6,
        "num_key_value_heads": 2, "head_dim": 256,
        "partial_rotary_factor": 0.25, "linear_conv_kernel_dim": 4,
        "linear_key_head_dim": 128, "linear_value_head_dim": 128,
        "linear_num_key_heads": 16, "linear_num_value_heads": 32,
        "num_experts": 256, "num_experts_per_tok": 8,
        "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512,
        "intermediate_size": 512, "tie_word_embeddings": false})";

}  // namespace

constexpr Architecture kQwen3Next = {
    .model_type = "qwen3_next",
    .name = "qwen3next",
    .defaults = R"({"max_position_embeddings": 32768, "rms_norm_eps": 1e-6,
                    "num_key_value_heads": 2, "head_dim": 256,
                    "partial_rotary_factor": 0.25, "linear_conv_kernel_dim": 4,
                    "linear_key_head_dim": 128, "linear_value_head_dim": 128,
                    "linear_num_key_heads": 16, "linear_num_value_heads": 32,
                    "num_experts": 512, "num_experts_per_tok": 10,
                    "moe_intermediate_size": 512,
                    "shared_expert_intermediate_size": 512,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kAttentionRules, kDeltaRules, kQwen3NextRules,
              kStackedExpertRules, kGatedExpertRules},
    .describe = describe_delta_experts,
};

constexpr Architecture kQwen35Text = {
    .model_type = "qwen3_5_text",
    .name = "qwen35",
    .defaults = kQwen35Defaults,
    .rules = {kDecoderRules, kAttentionRules, kDeltaRules, kQwen35Rules},
    .describe = add_delta_decoder,
};

constexpr Architecture kQwen35 = {
    .model_type = "qwen3_5",
    .name = "qwen35",
    .defaults = kQwen35Defaults,
    .renames = {{"model.language_model.", "model."}, {}},
    .rules = {kDecoderRules, kAttentionRules, kDeltaRules, kQwen35Rules},
    .describe = add_delta_decoder,
    .part = "text_config",
};

constexpr Architecture kQwen35MoeText = {
    .model_type = "qwen3_5_moe_text",
    .name = "qwen35moe",
    .defaults = kQwen35MoeDefaults,
    .rules = {kDecoderRules, kAttentionRules, kDeltaRules, kQwen35Rules,
              kStackedExpertRules, kGatedExpertRules},
    .describe = describe_delta_experts,
};

constexpr Architecture kQwen35Moe = {
    .model_type = "qwen3_5_moe",
    .name = "qwen35moe",
    .defaults = kQwen35MoeDefaults,
    .renames = {{"model.language_model.", "model."}, {}},
    .rules = {kDecoderRules, kAttentionRules, kDeltaRules, kQwen35Rules,
              kStackedExpertRules, kGatedExpertRules},
    .describe = describe_delta_experts,
    .part = "text_config",
};

}  // namespace rc::folder
