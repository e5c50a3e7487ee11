// The text parts of Qwen 3 VL, dense and with experts in every layer.
#include "base/checked.h"
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"
#include "files/folder/pictures.h"

namespace rc::folder {
namespace {

// Returns whether experts in one tensor are [experts, in, out], not
// [experts, out, in] as newer releases of transformers save them.
bool is_turned(const safetensors::Place& source, int64_t out, int64_t in) {
  const std::vector<int64_t>& shape = source.tensor->shape;
  return shape.size() != 3 || shape[1] != out || shape[2] != in;
}

// Returns the rows of the gate, or those of the other product, which follow.
TensorView either_half(const Config& config, const safetensors::Place& source,
                       bool second) {
  const auto rows =
      checked_mul(config.get_int("moe_intermediate_size"), int64_t{2});
  if (is_turned(source, rows.value_or(-1), config.get_int("hidden_size"))) {
    return second ? second_columns(config, source)
                  : first_columns(config, source);
  }
  return second ? second_half(config, source) : first_half(config, source);
}
TensorView either_gate(const Config& config, const safetensors::Place& source) {
  return either_half(config, source, false);
}
TensorView either_up(const Config& config, const safetensors::Place& source) {
  return either_half(config, source, true);
}
TensorView either_down(const Config& config, const safetensors::Place& source) {
  return is_turned(source, config.get_int("hidden_size"),
                   config.get_int("moe_intermediate_size"))
             ? all_columns(config, source)
             : as_it_is(config, source);
}

constexpr Rule kVisualExpertRules[] = {
    {"model.layers.*.mlp.gate.weight", "blk.*.ffn_gate_inp.weight"},
    {"model.layers.*.mlp.experts.gate_up_proj", "blk.*.ffn_gate_exps.weight",
     either_gate},
    {"model.layers.*.mlp.experts.gate_up_proj", "blk.*.ffn_up_exps.weight",
     either_up},
    {"model.layers.*.mlp.experts.down_proj", "blk.*.ffn_down_exps.weight",
     either_down},
};

void describe_qwen3vl(Description& model) {
  expect_text(model.config(), "hidden_act", {"silu"});
  expect_no_window(model.config());
  add_decoder(model);
  add_rope_sections(model);
  add_deepstack(model);
}

void describe_qwen3vl_moe(Description& model) {
  describe_qwen3vl(model);
  const Config& config = model.config();
  expect_experts_everywhere(config);
  // Newer folders have the other name.
  constexpr std::string_view kCount = "num_local_experts";
  add_experts(model, {.count = config.has(kCount) ? kCount : "num_experts"});
  // Models of this type are always computed so.
  model.add_flag("expert_weights_norm", true);
}

}  // namespace

constexpr Architecture kQwen3Vl = {
    .model_type = "qwen3_vl",
    .name = "qwen3vl",
    .defaults = R"({"num_key_value_heads": 32, "rms_norm_eps": 1e-6,
                    "head_dim": 128, "max_position_embeddings": 128000,
                    "rope_theta": 5e5, "tie_word_embeddings": false})",
    .renames = {kTextPartRename, {}},
    .rules = {kDecoderRules, kAttentionRules, kNormRules, kHeadNormRules,
              kVisualRules},
    .describe = describe_qwen3vl,
    .part = "text_config",
};

constexpr Architecture kQwen3VlMoe = {
    .model_type = "qwen3_vl_moe",
    .name = "qwen3vlmoe",
    .defaults = R"({"num_key_value_heads": 16, "rms_norm_eps": 1e-6,
                    "max_position_embeddings": 128000, "rope_theta": 5e5,
                    "num_experts": 60, "num_experts_per_tok": 4,
                    "moe_intermediate_size": 1408, "decoder_sparse_step": 1,
                    "tie_word_embeddings": false})",
    .renames = {kTextPartRename, {}},
    .rules = {kDecoderRules, kAttentionRules, kNormRules, kHeadNormRules,
              kVisualExpertRules, kVisualRules},
    .describe = describe_qwen3vl_moe,
    .part = "text_config",
};

}  // namespace rc::folder
