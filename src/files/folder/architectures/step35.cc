// Step 3.5 and 3.7, their text, under the members of their releases and under
// those of transformers.
#include <charconv>

#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr Rule kStep35Rules[] = {
    {"model.norm.weight", "output_norm.weight", plus_one},
    {"model.layers.*.input_layernorm.weight", "blk.*.attn_norm.weight",
     plus_one},
    {"model.layers.*.post_attention_layernorm.weight", "blk.*.ffn_norm.weight",
     plus_one},
    {"model.layers.*.self_attn.q_norm.weight", "blk.*.attn_q_norm.weight",
     plus_one},
    {"model.layers.*.self_attn.k_norm.weight", "blk.*.attn_k_norm.weight",
     plus_one},
    {"model.layers.*.self_attn.g_proj.weight", "blk.*.attn_gate.weight"},
    {"model.layers.*.moe.gate.weight", "blk.*.ffn_gate_inp.weight"},
    {"model.layers.*.moe.router_bias", "blk.*.exp_probs_b.bias"},
    {"model.layers.*.moe.gate_proj.weight", "blk.*.ffn_gate_exps.weight"},
    {"model.layers.*.moe.up_proj.weight", "blk.*.ffn_up_exps.weight"},
    {"model.layers.*.moe.down_proj.weight", "blk.*.ffn_down_exps.weight"},
    {"model.layers.*.share_expert.gate_proj.weight",
     "blk.*.ffn_gate_shexp.weight"},
    {"model.layers.*.share_expert.up_proj.weight", "blk.*.ffn_up_shexp.weight"},
    {"model.layers.*.share_expert.down_proj.weight",
     "blk.*.ffn_down_shexp.weight"},
    // The part that reads pictures.
    {"vision_model.%", ""},
    {"vit_large_projector.%", ""},
};

// Lists may have members for layers that guess further tokens.
template <class Item>
std::vector<Item> of_layers(const Config& config, std::string_view key,
                            std::vector<Item> items) {
  const auto layers = static_cast<size_t>(layer_count(config));
  if (items.size() < layers) {
    config.refuse(RC_E_FORMAT, key, " has ", items.size(), " members for ",
                  layers, " layers");
  }
  items.resize(layers);
  return items;
}

std::vector<bool> layers_in_windows(const Config& config) {
  const auto full = find_full_layers(config, "sliding_attention");
  if (!full) return std::vector<bool>(static_cast<size_t>(layer_count(config)));
  std::vector<bool> windowed = of_layers(config, "layer_types", *full);
  windowed.flip();
  return windowed;
}

void add_heads(Description& model, const std::vector<bool>& windowed) {
  const Config& config = model.config();
  const int64_t heads = config.get_int("num_attention_heads");
  const int64_t groups =
      first_int(config, "num_key_value_heads", "num_attention_groups");
  int64_t other_heads =
      config.find_int("num_sliding_attention_heads").value_or(heads);
  int64_t other_groups = groups;
  if (const auto other = config.find_object("attention_other_setting")) {
    expect_number(*other, "head_dim", static_cast<double>(head_size(config)));
    other_heads = other->find_int("num_attention_heads").value_or(other_heads);
    other_groups =
        other->find_int("num_attention_groups").value_or(other_groups);
  }
  std::vector<int64_t> of_heads, of_groups;
  for (const bool one : windowed) {
    of_heads.push_back(one ? other_heads : heads);
    of_groups.push_back(one ? other_groups : groups);
  }
  model.add_ints("attention.head_count", of_heads);
  model.add_ints("attention.head_count_kv", of_groups);
}

// In releases, numbers for each layer, of which those of a kind are alike, and
// a scaling of those without a window.
void add_ropes_of_release(Description& model,
                          const std::vector<bool>& windowed) {
  const Config& config = model.config();
  const auto of_kind = [&](std::string_view key, bool kind, double otherwise) {
    const JsonValue* value = config.find(key);
    if (value == nullptr) return otherwise;
    if (!value->is(JsonValue::Type::kArray)) return config.get_number(key);
    const auto numbers = of_layers(config, key, *config.find_numbers(key));
    double found = otherwise;
    bool first = true;
    for (size_t i = 0; i < windowed.size(); ++i) {
      if (windowed[i] != kind) continue;
      if (!first && numbers[i] != found) {
        config.refuse(RC_E_UNSUPPORTED, key, "[", i, "] is ", numbers[i],
                      "; layers of this kind before it have ", found);
      }
      found = numbers[i];
      first = false;
    }
    return found;
  };
  constexpr std::string_view kParts = "partial_rotary_factors";
  if (of_kind(kParts, true, 1.0) != 1.0) {
    config.refuse(RC_E_UNSUPPORTED, kParts, " has ", of_kind(kParts, true, 1.0),
                  " for layers with a window; these are computed with 1");
  }
  std::string object =
      cat(R"({"rope_theta": )", of_kind("rope_theta", false, 10000.0),
          R"(, "partial_rotary_factor": )", of_kind(kParts, false, 0.5));
  if (const auto scaling = config.find_object("rope_scaling")) {
    expect_text(*scaling, "rope_type", {"llama3"});
    object += R"(, "rope_type": "llama3")";
    for (const char* key : {"factor", "low_freq_factor", "high_freq_factor",
                            "original_max_position_embeddings"}) {
      object += cat(", \"", key, "\": ",
                    scaling->find(key) == nullptr ? std::string("null")
                                                  : scaling->find(key)->text);
    }
  }
  model.add_number("rope.freq_base_swa", of_kind("rope_theta", true, 10000.0));
  add_rope(model, Config::parse(object + "}", config.file()),
           {.rope_base = {},
            .rotated_part = "partial_rotary_factor",
            .count_whole = true});
}

void add_limits(Description& model, std::string_view from, const char* to) {
  const Config& config = model.config();
  const JsonValue* const value = config.find(from);
  if (value == nullptr) return;
  if (!value->is(JsonValue::Type::kArray)) {
    config.refuse(RC_E_FORMAT, from, " is no array");
  }
  std::vector<float> limits;
  for (const JsonValue& item : of_layers(config, from, value->items)) {
    // Null stands for none.
    double limit = 0.0;
    if (!item.is(JsonValue::Type::kNull)) {
      const char* const end = item.text.data() + item.text.size();
      const auto read = std::from_chars(item.text.data(), end, limit);
      if (!item.is(JsonValue::Type::kNumber) || read.ptr != end) {
        config.refuse(RC_E_FORMAT, from, " holds ", quote(item.text),
                      ", which is no number");
      }
    }
    limits.push_back(static_cast<float>(limit));
  }
  model.add_numbers(cat(model.architecture(), ".", to), limits);
}

// Returns the number of dense layers: in releases, the number of the first
// other layer.
int64_t dense_layers_of(const Config& config) {
  const auto first = config.find_text("moe_layers_enum");
  if (config.has("mlp_layer_types") || !first) return dense_layers(config);
  int64_t dense = 0;
  const char* const end = first->data() + first->size();
  const char* at = std::from_chars(first->data(), end, dense).ptr;
  for (int64_t next = dense + 1; at != end; ++next) {
    int64_t number = 0;
    const auto read = std::from_chars(at + 1, end, number);
    if (*at != ',' || read.ec != std::errc() || number != next) {
      config.refuse(RC_E_UNSUPPORTED, "moe_layers_enum", " is ", quote(*first),
                    "; all layers behind the first one with experts have them");
    }
    at = read.ptr;
  }
  return dense;
}

void describe_step35(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_text(config, "moe_router_activation", {"sigmoid"});
  for (const char* key : {"attention_bias", "mlp_bias", "sink"}) {
    expect_flag(config, key, false);
  }
  for (const char* key :
       {"norm_expert_weight", "use_head_wise_attn_gate", "zero_centered"}) {
    expect_flag(config, key, true);
  }
  const int64_t size = head_size(config);
  expect_number(config, "query_pre_attn_scalar", static_cast<double>(size));
  const std::vector<bool> windowed = layers_in_windows(config);
  model.add_int("block_count", layer_count(config));
  model.add_int("context_length", config.get_int("max_position_embeddings"));
  model.add_int("embedding_length", config.get_int("hidden_size"));
  model.add_int("feed_forward_length", config.get_int("intermediate_size"));
  model.add_number("attention.layer_norm_rms_epsilon",
                   config.get_number("rms_norm_eps"));
  model.add_int("attention.key_length", size);
  model.add_int("attention.value_length", size);
  model.add_int("vocab_size", config.get_int("vocab_size"));
  add_heads(model, windowed);
  add_window(model);
  model.add_flags("attention.sliding_window_pattern", windowed);
  if (const auto rope = config.find_object("rope_parameters")) {
    if (const auto local = rope->find_object("sliding_attention")) {
      expect_number(*local, "partial_rotary_factor", 1.0);
    }
    add_rope(model,
             {.rotated_part = "partial_rotary_factor", .count_whole = true});
  } else {
    add_ropes_of_release(model, windowed);
  }
  model.add_int("expert_count",
                first_int(config, "n_routed_experts", "moe_num_experts"));
  model.add_int("expert_used_count",
                first_int(config, "num_experts_per_tok", "moe_top_k"));
  model.add_int("expert_feed_forward_length",
                config.get_int("moe_intermediate_size"));
  model.add_int("expert_shared_feed_forward_length",
                config.get_int("share_expert_dim"));
  model.add_int("leading_dense_block_count", dense_layers_of(config));
  // GGUF's number of the sigmoid.
  model.add_int("expert_gating_func", 2);
  model.add_number("expert_weights_scale",
                   config.get_number("moe_router_scaling_factor"));
  add_limits(model, "swiglu_limits", "swiglu_clamp_exp");
  add_limits(model, "swiglu_limits_shared", "swiglu_clamp_shexp");
}

constexpr std::string_view kStep35Defaults =
    R"({"rms_norm_eps": 1e-5, "max_position_embeddings": 128000,
        "head_dim": 128, "moe_intermediate_size": 1280,
        "share_expert_dim": 1280, "moe_router_scaling_factor": 1.0,
        "first_k_dense_replace": 3, "tie_word_embeddings": false})";

}  // namespace

constexpr Architecture kStep3p5 = {
    .model_type = "step3p5",
    .name = "step35",
    .defaults = kStep35Defaults,
    .rules = {kDecoderRules, kAttentionRules, kStep35Rules},
    .describe = describe_step35,
};

constexpr Architecture kStep3p7 = {
    .model_type = "step3p7",
    .name = "step35",
    .defaults = kStep35Defaults,
    .rules = {kDecoderRules, kAttentionRules, kStep35Rules},
    .describe = describe_step35,
    .part = "text_config",
};

}  // namespace rc::folder
