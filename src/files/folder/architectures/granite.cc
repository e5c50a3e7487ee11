// Granite 3: Llama with factors of its own; and Granite 4.0-h without experts,
// of which most layers are selective state spaces.
#include "base/checked.h"
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

// What state spaces hold, one number for each head, is a column of F32.
TensorView column(const safetensors::Place& source, Change change) {
  TensorView view = whole(source);
  if (view.shape.size() != 1) refuse_shape(source, "a number for each head");
  view.shape.push_back(1);
  view.dtype = RC_DTYPE_F32;
  view.change = change;
  return view;
}

TensorView decay(const Config&, const safetensors::Place& source) {
  return column(source, Change::kMinusExp);
}
TensorView skip(const Config&, const safetensors::Place& source) {
  return column(source, Change::kNone);
}

// [channels, 1, taps] becomes [channels, taps].
TensorView convolution(const Config&, const safetensors::Place& source) {
  TensorView view = whole(source);
  if (view.shape.size() != 3 || view.shape[1] != 1) {
    refuse_shape(source, "a convolution of each channel by itself");
  }
  view.shape.erase(view.shape.begin() + 1);
  view.dtype = RC_DTYPE_F32;
  return view;
}

// A row for each group.
TensorView group_norm(const Config& config, const safetensors::Place& source) {
  TensorView view = as_it_is(config, source);
  const int64_t groups = config.get_int("mamba_n_groups");
  if (view.shape.size() != 1 || groups < 1 || view.shape[0] % groups != 0) {
    refuse_shape(source, cat("rows of ", groups, " groups"));
  }
  view.shape = {groups, view.shape[0] / groups};
  return view;
}

constexpr Rule kStateSpaceRules[] = {
    {"model.layers.*.mamba.in_proj.weight", "blk.*.ssm_in.weight"},
    {"model.layers.*.mamba.conv1d.weight", "blk.*.ssm_conv1d.weight",
     convolution},
    {"model.layers.*.mamba.conv1d.bias", "blk.*.ssm_conv1d.bias"},
    {"model.layers.*.mamba.dt_bias", "blk.*.ssm_dt.bias"},
    {"model.layers.*.mamba.A_log", "blk.*.ssm_a", decay},
    {"model.layers.*.mamba.D", "blk.*.ssm_d", skip},
    {"model.layers.*.mamba.norm.weight", "blk.*.ssm_norm.weight", group_norm},
    {"model.layers.*.mamba.out_proj.weight", "blk.*.ssm_out.weight"},
    {"model.layers.*.shared_mlp.input_linear.weight", "blk.*.ffn_gate.weight",
     first_half},
    {"model.layers.*.shared_mlp.input_linear.weight", "blk.*.ffn_up.weight",
     second_half},
    {"model.layers.*.shared_mlp.output_linear.weight", "blk.*.ffn_down.weight"},
};

void add_factors(Description& model) {
  const Config& config = model.config();
  model.add_number("attention.scale",
                   config.get_number("attention_multiplier"));
  model.add_number("embedding_scale",
                   config.get_number("embedding_multiplier"));
  model.add_number("residual_scale", config.get_number("residual_multiplier"));
  model.add_number("logit_scale", config.get_number("logits_scaling"));
}

void describe_granite(Description& model) {
  expect_text(model.config(), "hidden_act", {"silu"});
  add_decoder(model);
  add_factors(model);
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
    if (type != "mamba" && type != "attention") {
      config.refuse(RC_E_UNSUPPORTED, "layer_types", " holds ", quote(type),
                    "; known are mamba, attention");
    }
    kv_heads.push_back(type == "attention" ? heads : 0);
  }
  model.add_ints("attention.head_count_kv", kv_heads);
}

void add_state_space(Description& model) {
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

void describe_granite_hybrid(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_number(config, "num_local_experts", 0);
  expect_text(config, "position_embedding_type", {"nope", "rope"});
  add_decoder_sizes(model);
  add_layers(model);
  add_rope(model);
  // Null is none, too.
  model.add_flag("rope.scaling.finetuned",
                 config.find_text("position_embedding_type") == "rope");
  add_factors(model);
  add_state_space(model);
}

}  // namespace

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

constexpr Architecture kGraniteMoeHybrid = {
    .model_type = "granitemoehybrid",
    .name = "granitehybrid",
    .defaults = R"({"max_position_embeddings": 2048, "rms_norm_eps": 1e-6,
                    "embedding_multiplier": 1.0, "logits_scaling": 1.0,
                    "residual_multiplier": 1.0, "attention_multiplier": 1.0,
                    "num_local_experts": 8, "mamba_n_heads": 128,
                    "mamba_n_groups": 1, "mamba_d_state": 256,
                    "mamba_d_conv": 4, "mamba_expand": 2,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kPairedAttentionRules, kNormRules,
              kStateSpaceRules},
    .describe = describe_granite_hybrid,
};

}  // namespace rc::folder
