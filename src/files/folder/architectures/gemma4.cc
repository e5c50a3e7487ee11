// Gemma 4, its text. Norms hold their weights as they are.
#include <utility>

#include "files/folder/architectures/gemma_rules.h"
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr Rule kGemma4Rules[] = {
    {"model.layers.*.layer_scalar", "blk.*.layer_output_scale.weight"},
    {"model.layers.*.router.scale", "blk.*.ffn_gate_inp.scale"},
    {"model.layers.*.router.proj.weight", "blk.*.ffn_gate_inp.weight"},
    {"model.layers.*.router.per_expert_scale", "blk.*.ffn_down_exps.scale"},
    {"model.layers.*.experts.gate_up_proj", "blk.*.ffn_gate_up_exps.weight"},
    {"model.layers.*.experts.down_proj", "blk.*.ffn_down_exps.weight"},
    {"model.layers.*.pre_feedforward_layernorm_2.weight",
     "blk.*.pre_ffw_norm_2.weight"},
    {"model.layers.*.post_feedforward_layernorm_1.weight",
     "blk.*.post_ffw_norm_1.weight"},
    {"model.layers.*.post_feedforward_layernorm_2.weight",
     "blk.*.post_ffw_norm_2.weight"},
};

// Which layers see only a window: without layer_types five of six. The last
// one sees all, whatever is said of it.
std::vector<bool> windowed_layers(const Config& config) {
  const int64_t layers = layer_count(config);
  std::vector<bool> windowed;
  if (auto full = find_full_layers(config, "sliding_attention")) {
    full->flip();
    windowed = *std::move(full);
  } else {
    for (int64_t i = 0; i < layers; ++i) windowed.push_back((i + 1) % 6 != 0);
  }
  if (windowed.size() != static_cast<size_t>(layers)) {
    config.refuse(RC_E_FORMAT, "layer_types", " has ", windowed.size(),
                  " layers, but num_hidden_layers is ", layers);
  }
  windowed.back() = false;
  return windowed;
}

// The value of per_layer_config for a layer, else `otherwise`.
int64_t of_layer(const Config& config, int64_t layer, std::string_view key,
                 int64_t otherwise) {
  const auto layers = config.find_object("per_layer_config");
  if (!layers) return otherwise;
  const auto own = layers->find_object(std::to_string(layer));
  return own ? own->find_int(key).value_or(otherwise) : otherwise;
}

struct Gemma4Heads {
  int64_t full = 0;  // elements of one where all is seen
  int64_t windowed = 0;
  std::vector<int64_t> of_keys;  // by layer
};

Gemma4Heads gemma4_heads(const Config& config,
                         const std::vector<bool>& windowed) {
  // Newer folders say it by layer.
  const bool by_layer = config.find("per_layer_config") != nullptr;
  const int64_t size = head_size(config);
  const int64_t full_size =
      by_layer ? size : config.find_int("global_head_dim").value_or(512);
  const int64_t count = config.get_int("num_key_value_heads");
  const bool own_count =
      !by_layer && config.find_flag("attention_k_eq_v").value_or(false);
  const int64_t full_count =
      own_count ? config.find_int("num_global_key_value_heads").value_or(count)
                : count;
  Gemma4Heads heads;
  for (size_t i = 0; i < windowed.size(); ++i) {
    const auto layer = static_cast<int64_t>(i);
    int64_t& of_kind = windowed[i] ? heads.windowed : heads.full;
    const int64_t own =
        of_layer(config, layer, "head_dim", windowed[i] ? size : full_size);
    if (own < 1 || (of_kind != 0 && of_kind != own)) {
      config.refuse(RC_E_UNSUPPORTED, "per_layer_config", " gives layer ", i,
                    " heads of ", own, " elements, but others of its kind ",
                    "have ", of_kind);
    }
    of_kind = own;
    heads.of_keys.push_back(of_layer(config, layer, "num_key_value_heads",
                                     windowed[i] ? count : full_count));
  }
  if (heads.windowed == 0) heads.windowed = heads.full;
  return heads;
}

void add_gemma4_feed_forward(Description& model, int64_t shared) {
  const Config& config = model.config();
  const int64_t size = config.get_int("intermediate_size");
  if (!config.find_flag("use_double_wide_mlp").value_or(false)) {
    model.add_int("feed_forward_length", size);
    return;
  }
  const int64_t layers = layer_count(config);
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i < layers; ++i) {
    sizes.push_back(i < layers - shared ? size : 2 * size);
  }
  model.add_ints("feed_forward_length", sizes);
}

void describe_gemma4(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_activation", {"gelu_pytorch_tanh"});
  // Parts of a picture see each other; texts have none.
  expect_text(config, "use_bidirectional_attention", {"vision"});
  expect_flag(config, "attention_bias", false);
  const std::vector<bool> windowed = windowed_layers(config);
  const Gemma4Heads heads = gemma4_heads(config, windowed);
  const int64_t shared = config.find_int("num_kv_shared_layers").value_or(0);
  add_decoder_sizes(model, {.feed_forward = {}, .head_size = heads.full});
  add_gemma4_feed_forward(model, shared);
  model.add_ints("attention.head_count_kv", heads.of_keys);
  model.add_int("attention.key_length_swa", heads.windowed);
  model.add_int("attention.value_length_swa", heads.windowed);
  model.add_int("attention.shared_kv_layers", shared);
  add_window(model);
  model.add_flags("attention.sliding_window_pattern", windowed);
  add_proportional_rope(model, heads.full, heads.windowed);
  model.add_int("embedding_length_per_layer_input",
                config.find_int("hidden_size_per_layer_input").value_or(0));
  model.add_number("final_logit_softcapping",
                   config.find_number("final_logit_softcapping").value_or(0.0));
  if (config.find_flag("enable_moe_block").value_or(false)) {
    add_experts(model, {.used = "top_k_experts"});
  }
}

constexpr std::string_view kGemma4Defaults =
    R"({"hidden_size": 2304, "intermediate_size": 9216,
        "num_hidden_layers": 30, "num_attention_heads": 8,
        "num_key_value_heads": 4, "head_dim": 256, "vocab_size": 262144,
        "rms_norm_eps": 1e-6, "max_position_embeddings": 131072,
        "sliding_window": 512, "hidden_size_per_layer_input": 256,
        "tie_word_embeddings": true})";

// Those that have one model for texts, pictures and sounds.
constexpr std::string_view kUnifiedDefaults =
    R"({"hidden_size": 2304, "intermediate_size": 9216,
        "num_hidden_layers": 30, "num_attention_heads": 8,
        "num_key_value_heads": 4, "head_dim": 256, "vocab_size": 262144,
        "rms_norm_eps": 1e-6, "max_position_embeddings": 262144,
        "sliding_window": 1024, "tie_word_embeddings": true})";

}  // namespace

constexpr Architecture kGemma4Text = {
    .model_type = "gemma4_text",
    .name = "gemma4",
    .defaults = kGemma4Defaults,
    .rules = {kDecoderRules, kAttentionRules, kHeadNormRules,
              kPlainSandwichRules, kPerLayerRules, kGemma4Rules},
    .describe = describe_gemma4,
};

// With pictures and sounds; what is read is the text.
constexpr Architecture kGemma4 = {
    .model_type = "gemma4",
    .name = "gemma4",
    .defaults = kGemma4Defaults,
    .renames = {{"language_model.", ""}, {"model.language_model.", "model."}},
    .rules = {kDecoderRules, kAttentionRules, kHeadNormRules,
              kPlainSandwichRules, kPerLayerRules, kGemma4Rules},
    .describe = describe_gemma4,
    .part = "text_config",
};

constexpr Architecture kGemma4UnifiedText = {
    .model_type = "gemma4_unified_text",
    .name = "gemma4",
    .defaults = kUnifiedDefaults,
    .rules = {kDecoderRules, kAttentionRules, kHeadNormRules,
              kPlainSandwichRules, kGemma4Rules},
    .describe = describe_gemma4,
};

constexpr Architecture kGemma4Unified = {
    .model_type = "gemma4_unified",
    .name = "gemma4",
    .defaults = kUnifiedDefaults,
    .renames = {{"language_model.", ""}, {"model.language_model.", "model."}},
    .rules = {kDecoderRules, kAttentionRules, kHeadNormRules,
              kPlainSandwichRules, kGemma4Rules},
    .describe = describe_gemma4,
    .part = "text_config",
};

}  // namespace rc::folder
