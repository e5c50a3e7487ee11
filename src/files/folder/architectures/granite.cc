// Granite 3: Llama with extra factors, also with experts; and Granite 4.0-h, of
// which most layers are selective state spaces.
#include "base/checked.h"
#include "files/folder/architectures/granite_rules.h"
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"
#include "files/folder/state_spaces.h"

namespace rc::folder {
namespace {

bool has_experts(const Config& config) {
  return config.find_int("num_local_experts").value_or(0) > 0;
}
bool has_no_experts(const Config& config) { return !has_experts(config); }

// Experts in three tensors; another part is always used.
constexpr Rule kGraniteExpertRules[] = {
    {"model.layers.*.block_sparse_moe.router.layer.weight",
     "blk.*.ffn_gate_inp.weight"},
    {"model.layers.*.block_sparse_moe.input_linear.weight",
     "blk.*.ffn_gate_exps.weight", first_half},
    {"model.layers.*.block_sparse_moe.input_linear.weight",
     "blk.*.ffn_up_exps.weight", second_half},
    {"model.layers.*.block_sparse_moe.output_linear.weight",
     "blk.*.ffn_down_exps.weight"},
    {"model.layers.*.shared_mlp.input_linear.weight",
     "blk.*.ffn_gate_shexp.weight", first_half, has_experts},
    {"model.layers.*.shared_mlp.input_linear.weight",
     "blk.*.ffn_up_shexp.weight", second_half, has_experts},
    {"model.layers.*.shared_mlp.output_linear.weight",
     "blk.*.ffn_down_shexp.weight", as_it_is, has_experts},
};

// Without experts that part is all there is.
constexpr Rule kGraniteDenseRules[] = {
    {"model.layers.*.shared_mlp.input_linear.weight", "blk.*.ffn_gate.weight",
     first_half, has_no_experts},
    {"model.layers.*.shared_mlp.input_linear.weight", "blk.*.ffn_up.weight",
     second_half, has_no_experts},
    {"model.layers.*.shared_mlp.output_linear.weight", "blk.*.ffn_down.weight",
     as_it_is, has_no_experts},
};

void describe_granite(Description& model) {
  expect_text(model.config(), "hidden_act", {"silu"});
  add_decoder(model);
  add_granite_factors(model);
}

void describe_granite_moe(Description& model) {
  expect_text(model.config(), "position_embedding_type", {"rope"});
  describe_granite(model);
  add_granite_experts(model);
}

// Layers without key/value heads are state spaces.
void add_layers(Description& model) {
  const Config& config = model.config();
  const auto types = config.find_texts("layer_types");
  if (!types) {
    config.refuse(RC_E_FORMAT, "layer_types", " is missing");
  }
  const int64_t heads = config.find_int("num_key_value_heads")
                            .value_or(config.get_int("num_attention_heads"));
  std::vector<int64_t> kv_heads;
  for (const std::string& type : *types) {
    const bool space = type == "mamba" || type == "linear_attention";
    if (!space && type != "attention" && type != "full_attention") {
      config.refuse(RC_E_UNSUPPORTED, "layer_types", " holds ", quote(type),
                    "; known are mamba, attention, linear_attention, "
                    "full_attention");
    }
    kv_heads.push_back(space ? 0 : heads);
  }
  model.add_ints("attention.head_count_kv", kv_heads);
}

void describe_granite_hybrid(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_text(config, "position_embedding_type", {"nope", "rope"});
  add_decoder_sizes(model);
  add_layers(model);
  add_rope(model);
  // Null is none, too.
  model.add_flag("rope.scaling.finetuned",
                 config.find_text("position_embedding_type") == "rope");
  add_granite_factors(model);
  add_mamba_sizes(model);
  add_step_limits(model);
  if (has_experts(config)) add_granite_experts(model);
}

constexpr std::string_view kGraniteMoeDefaults =
    R"({"max_position_embeddings": 2048, "rms_norm_eps": 1e-6,
        "embedding_multiplier": 1.0, "logits_scaling": 1.0,
        "residual_multiplier": 1.0, "attention_multiplier": 1.0,
        "num_local_experts": 8, "num_experts_per_tok": 2,
        "tie_word_embeddings": false})";

}  // namespace

void add_granite_factors(Description& model) {
  const Config& config = model.config();
  model.add_number("attention.scale",
                   config.get_number("attention_multiplier"));
  model.add_number("embedding_scale",
                   config.get_number("embedding_multiplier"));
  model.add_number("residual_scale", config.get_number("residual_multiplier"));
  model.add_number("logit_scale", config.get_number("logits_scaling"));
}

void add_granite_experts(Description& model) {
  const Config& config = model.config();
  add_experts(model,
              {.count = "num_local_experts", .size = "intermediate_size"});
  model.add_int("expert_shared_feed_forward_length",
                config.find_int("shared_intermediate_size").value_or(0));
}

void add_mamba_sizes(Description& model) {
  const Config& config = model.config();
  const int64_t width = config.get_int("hidden_size");
  const int64_t inner =
      checked_mul(config.get_int("mamba_expand"), width).value_or(-1);
  const int64_t heads = config.get_int("mamba_n_heads");
  model.add_int("ssm.conv_kernel", config.get_int("mamba_d_conv"));
  model.add_int("ssm.state_size", config.get_int("mamba_d_state"));
  model.add_int("ssm.group_count", config.get_int("mamba_n_groups"));
  model.add_int("ssm.time_step_rank", heads);
  model.add_int("ssm.inner_size", inner);
}

constexpr Architecture kGranite = {
    .model_type = "granite",
    .name = "granite",
    .defaults = R"({"max_position_embeddings": 2048, "rms_norm_eps": 1e-6,
                    "embedding_multiplier": 1.0, "logits_scaling": 1.0,
                    "residual_multiplier": 1.0, "attention_multiplier": 1.0,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kPairedAttentionRules, kNormRules},
    .describe = describe_granite,
};

constexpr Architecture kGraniteMoe = {
    .model_type = "granitemoe",
    .name = "granitemoe",
    .defaults = kGraniteMoeDefaults,
    .rules = {kDecoderRules, kPairedAttentionRules, kNormRules,
              kGraniteExpertRules},
    .describe = describe_granite_moe,
};

constexpr Architecture kGraniteMoeShared = {
    .model_type = "granitemoeshared",
    .name = "granitemoe",
    .defaults = kGraniteMoeDefaults,
    .rules = {kDecoderRules, kPairedAttentionRules, kNormRules,
              kGraniteExpertRules},
    .describe = describe_granite_moe,
};

constexpr Architecture kGraniteMoeHybrid = {
    .model_type = "granitemoehybrid",
    .name = "granitehybrid",
    .defaults = R"({"max_position_embeddings": 2048, "rms_norm_eps": 1e-6,
                    "embedding_multiplier": 1.0, "logits_scaling": 1.0,
                    "residual_multiplier": 1.0, "attention_multiplier": 1.0,
                    "num_local_experts": 8, "num_experts_per_tok": 2,
                    "shared_intermediate_size": 1024, "mamba_n_heads": 128,
                    "mamba_n_groups": 1, "mamba_d_state": 256,
                    "mamba_d_conv": 4, "mamba_expand": 2,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kPairedAttentionRules, kNormRules, kSpaceRules,
              kGraniteExpertRules, kGraniteDenseRules},
    .describe = describe_granite_hybrid,
};

}  // namespace rc::folder
