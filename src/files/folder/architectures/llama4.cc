// Llama 4, its text.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr Rule kLlama4Rules[] = {
    {"model.layers.*.feed_forward.gate_proj.weight", "blk.*.ffn_gate.weight"},
    {"model.layers.*.feed_forward.up_proj.weight", "blk.*.ffn_up.weight"},
    {"model.layers.*.feed_forward.down_proj.weight", "blk.*.ffn_down.weight"},
    {"model.layers.*.feed_forward.router.weight", "blk.*.ffn_gate_inp.weight"},
    {"model.layers.*.feed_forward.experts.gate_up_proj",
     "blk.*.ffn_gate_exps.weight", first_columns},
    {"model.layers.*.feed_forward.experts.gate_up_proj",
     "blk.*.ffn_up_exps.weight", second_columns},
    {"model.layers.*.feed_forward.experts.down_proj",
     "blk.*.ffn_down_exps.weight", all_columns},
    {"model.layers.*.feed_forward.shared_expert.gate_proj.weight",
     "blk.*.ffn_gate_shexp.weight"},
    {"model.layers.*.feed_forward.shared_expert.up_proj.weight",
     "blk.*.ffn_up_shexp.weight"},
    {"model.layers.*.feed_forward.shared_expert.down_proj.weight",
     "blk.*.ffn_down_shexp.weight"},
    // Pictures.
    {"vision_model.%", ""},
    {"multi_modal_projector.%", ""},
};

void describe_llama4(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_flag(config, "attention_bias", false);
  // The architecture says which layers rotate: three of four, within chunks.
  expect_number(config, "no_rope_layer_interval", 4);
  const int64_t layers = layer_count(config);
  if (const auto rotated = config.find_ints("no_rope_layers")) {
    for (size_t i = 0; i < rotated->size(); ++i) {
      if (((*rotated)[i] != 0) == ((i + 1) % 4 != 0)) continue;
      config.refuse(RC_E_UNSUPPORTED, "no_rope_layers", " has ", (*rotated)[i],
                    " for layer ", i,
                    "; models of type llama4 are computed with every fourth "
                    "layer not rotating");
    }
  }
  if (const auto types = config.find_texts("layer_types")) {
    for (size_t i = 0; i < types->size(); ++i) {
      const bool chunked = (*types)[i] == "chunked_attention";
      if (chunked == ((i + 1) % 4 != 0)) continue;
      config.refuse(RC_E_UNSUPPORTED, "layer_types", " has ",
                    quote((*types)[i]), " for layer ", i,
                    "; models of type llama4 are computed with "
                    "chunked_attention but for every fourth layer");
    }
  }
  const int64_t experts = config.get_int("num_local_experts");
  const bool normed = config.find_flag("use_qk_norm").value_or(true);
  // Values that readers assume are not written.
  if (normed == (experts == 128)) {
    model.add_flag("attention.head_norms", normed);
  }
  add_decoder_sizes(model, {.feed_forward = "intermediate_size_mlp"});
  model.add_int("attention.head_count_kv",
                config.get_int("num_key_value_heads"));
  add_rope(model);
  model.add_int("attention.sliding_window",
                config.get_int("attention_chunk_size"));
  const bool raised =
      config.find_flag("attn_temperature_tuning").value_or(true);
  model.add_number("attention.temperature_scale",
                   raised ? config.get_number("attn_scale") : 0.0);
  model.add_int("attention.temperature_length", config.get_int("floor_scale"));
  const int64_t step = config.get_int("interleave_moe_layer_step");
  if (const auto with = config.find_ints("moe_layers")) {
    std::vector<int64_t> expected;
    for (int64_t i = step - 1; step > 0 && i < layers; i += step) {
      expected.push_back(i);
    }
    if (*with != expected) {
      config.refuse(RC_E_UNSUPPORTED, "moe_layers",
                    " are not those that interleave_moe_layer_step says");
    }
  }
  model.add_int("interleave_moe_layer_step", step);
  add_experts(model,
              {.count = "num_local_experts", .size = "intermediate_size"});
  model.add_int("expert_shared_count", 1);
}

constexpr std::string_view kLlama4Defaults =
    R"({"hidden_size": 5120, "intermediate_size": 8192,
        "intermediate_size_mlp": 16384, "num_hidden_layers": 48,
        "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128,
        "max_position_embeddings": 131072, "rms_norm_eps": 1e-5,
        "rope_theta": 500000, "num_experts_per_tok": 1,
        "num_local_experts": 16, "interleave_moe_layer_step": 1,
        "use_qk_norm": true, "attention_chunk_size": 8192,
        "floor_scale": 8192, "attn_scale": 0.1, "vocab_size": 202048,
        "tie_word_embeddings": false})";

}  // namespace

constexpr Architecture kLlama4Text = {
    .model_type = "llama4_text",
    .name = "llama4",
    .defaults = kLlama4Defaults,
    .rules = {kDecoderRules, kAttentionRules, kNormRules, kLlama4Rules},
    .describe = describe_llama4,
};

// With pictures; what is read is the text.
constexpr Architecture kLlama4 = {
    .model_type = "llama4",
    .name = "llama4",
    .defaults = kLlama4Defaults,
    .renames = {{"language_model.", ""}, {}},
    .rules = {kDecoderRules, kAttentionRules, kNormRules, kLlama4Rules},
    .describe = describe_llama4,
    .part = "text_config",
};

}  // namespace rc::folder
