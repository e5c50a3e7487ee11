// Mamba 2: every layer is a selective state space.
#include "base/checked.h"
#include "files/folder/architectures/list.h"

namespace rc::folder {
namespace {

constexpr Rule kMamba2Rules[] = {
    {"backbone.embeddings.weight", "token_embd.weight"},
    {"backbone.norm_f.weight", "output_norm.weight"},
    {"lm_head.weight", "output.weight"},
    {"backbone.layers.*.norm.weight", "blk.*.attn_norm.weight"},
    {"backbone.layers.*.mixer.in_proj.weight", "blk.*.ssm_in.weight"},
    {"backbone.layers.*.mixer.conv1d.weight", "blk.*.ssm_conv1d.weight",
     convolution},
    {"backbone.layers.*.mixer.conv1d.bias", "blk.*.ssm_conv1d.bias"},
    {"backbone.layers.*.mixer.dt_bias", "blk.*.ssm_dt.bias"},
    {"backbone.layers.*.mixer.A_log", "blk.*.ssm_a", decay_column},
    {"backbone.layers.*.mixer.D", "blk.*.ssm_d", skip_column},
    {"backbone.layers.*.mixer.norm.weight", "blk.*.ssm_norm.weight",
     group_norm},
    {"backbone.layers.*.mixer.out_proj.weight", "blk.*.ssm_out.weight"},
};

// Steps are not limited: from 0 to infinity, which Config reads as null.
void expect_no_limit(const Config& config) {
  constexpr std::string_view kLimit = "time_step_limit";
  const JsonValue* limit = config.find(kLimit);
  if (limit == nullptr) return;
  const auto is_zero = [](const JsonValue& value) {
    return value.is(JsonValue::Type::kNumber) &&
           (value.text == "0.0" || value.text == "0");
  };
  if (!limit->is(JsonValue::Type::kArray) || limit->items.size() != 2 ||
      !is_zero(limit->items[0]) ||
      !limit->items[1].is(JsonValue::Type::kNull)) {
    config.refuse(RC_E_UNSUPPORTED, kLimit,
                  " is not from 0 to infinity; steps are computed without a "
                  "limit");
  }
}

void describe_mamba2(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_flag(config, "rms_norm", true);
  expect_no_limit(config);
  const int64_t width = config.get_int("hidden_size");
  const int64_t inner =
      checked_mul(config.get_int("expand"), width).value_or(-1);
  model.add_int("block_count", layer_count(config));
  // Nothing depends on the position.
  model.add_int("context_length", int64_t{1} << 20);
  model.add_int("embedding_length", width);
  model.add_number("attention.layer_norm_rms_epsilon",
                   config.get_number("layer_norm_epsilon"));
  model.add_int("ssm.conv_kernel", config.get_int("conv_kernel"));
  model.add_int("ssm.state_size", config.get_int("state_size"));
  model.add_int("ssm.group_count", config.get_int("n_groups"));
  model.add_int("ssm.time_step_rank", config.get_int("num_heads"));
  model.add_int("ssm.inner_size", inner);
}

}  // namespace

constexpr Architecture kMamba2 = {
    .model_type = "mamba2",
    .name = "mamba2",
    .defaults = R"({"layer_norm_epsilon": 1e-5, "conv_kernel": 4,
                    "state_size": 128, "n_groups": 8, "num_heads": 128,
                    "expand": 2, "tie_word_embeddings": false})",
    .rules = {kMamba2Rules},
    .describe = describe_mamba2,
};

}  // namespace rc::folder
