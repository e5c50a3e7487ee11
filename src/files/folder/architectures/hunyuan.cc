// Hunyuan, dense and with experts in every layer.
#include <algorithm>
#include <iterator>

#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr Rule kHunyuanRules[] = {
    {"model.layers.*.self_attn.query_layernorm.weight",
     "blk.*.attn_q_norm.weight"},
    {"model.layers.*.self_attn.key_layernorm.weight",
     "blk.*.attn_k_norm.weight"},
    {"model.layers.*.mlp.gate.wg.weight", "blk.*.ffn_gate_inp.weight"},
    {"model.layers.*.mlp.shared_mlp.gate_proj.weight",
     "blk.*.ffn_gate_shexp.weight"},
    {"model.layers.*.mlp.shared_mlp.up_proj.weight",
     "blk.*.ffn_up_shexp.weight"},
    {"model.layers.*.mlp.shared_mlp.down_proj.weight",
     "blk.*.ffn_down_shexp.weight"},
};

// A number, or one for each layer, which must be the same ones.
int64_t of_all_layers(const Config& config, std::string_view key) {
  const JsonValue* value = config.find(key);
  if (value == nullptr || !value->is(JsonValue::Type::kArray)) {
    return config.get_int(key);
  }
  const std::vector<int64_t> numbers = *config.find_ints(key);
  if (numbers.empty() ||
      std::ranges::count(numbers, numbers[0]) != std::ssize(numbers)) {
    config.refuse(RC_E_UNSUPPORTED, key,
                  " is not the same for all layers, but they are computed with "
                  "as many");
  }
  return numbers[0];
}

void describe_hunyuan(Description& model) {
  expect_text(model.config(), "hidden_act", {"silu"});
  add_decoder(model);
}

void describe_hunyuan_moe(Description& model) {
  describe_hunyuan(model);
  const Config& config = model.config();
  const int64_t size = config.get_int("intermediate_size");
  model.add_int("expert_count", of_all_layers(config, "num_experts"));
  model.add_int("expert_used_count", of_all_layers(config, "moe_topk"));
  model.add_int("expert_feed_forward_length", size);
  model.add_int("expert_shared_feed_forward_length", size);
}

constexpr std::string_view kHunyuanDefaults =
    R"({"rms_norm_eps": 1e-5, "max_position_embeddings": 2048,
        "tie_word_embeddings": false})";

}  // namespace

constexpr Architecture kHunyuanDense = {
    .model_type = "hunyuan_v1_dense",
    .name = "hunyuan-dense",
    .defaults = kHunyuanDefaults,
    .rules = {kDecoderRules, kAttentionRules, kNormRules, kHunyuanRules},
    .describe = describe_hunyuan,
};

constexpr Architecture kHunyuanMoe = {
    .model_type = "hunyuan_v1_moe",
    .name = "hunyuan-moe",
    .defaults = kHunyuanDefaults,
    .rules = {kDecoderRules, kAttentionRules, kNormRules, kExpertRules,
              kHunyuanRules},
    .describe = describe_hunyuan_moe,
};

}  // namespace rc::folder
