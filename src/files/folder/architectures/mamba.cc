// Mamba: every layer is a selective state space; and Falcon Mamba, which norms
// the steps, b and c.
#include "base/checked.h"
#include "files/folder/architectures/list.h"
#include "files/folder/state_spaces.h"

namespace rc::folder {
namespace {

constexpr Rule kMambaRules[] = {
    {"backbone.embeddings.weight", "token_embd.weight"},
    {"backbone.norm_f.weight", "output_norm.weight"},
    {"lm_head.weight", "output.weight"},
    {"backbone.layers.*.norm.weight", "blk.*.attn_norm.weight"},
    {"backbone.layers.*.mixer.in_proj.weight", "blk.*.ssm_in.weight"},
    {"backbone.layers.*.mixer.conv1d.weight", "blk.*.ssm_conv1d.weight",
     convolution},
    {"backbone.layers.*.mixer.conv1d.bias", "blk.*.ssm_conv1d.bias"},
    {"backbone.layers.*.mixer.x_proj.weight", "blk.*.ssm_x.weight"},
    {"backbone.layers.*.mixer.dt_proj.@", "blk.*.ssm_dt.@"},
    {"backbone.layers.*.mixer.A_log", "blk.*.ssm_a", decays},
    {"backbone.layers.*.mixer.D", "blk.*.ssm_d"},
    {"backbone.layers.*.mixer.out_proj.weight", "blk.*.ssm_out.weight"},
};

void describe_mamba(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_flag(config, "use_bias", false);
  const int64_t width = config.get_int("hidden_size");
  model.add_int("block_count", layer_count(config));
  // Nothing depends on the position.
  model.add_int("context_length", int64_t{1} << 20);
  model.add_int("embedding_length", width);
  model.add_number("attention.layer_norm_rms_epsilon",
                   config.get_number("layer_norm_epsilon"));
  model.add_int("ssm.conv_kernel", config.get_int("conv_kernel"));
  model.add_int("ssm.state_size", config.get_int("state_size"));
  model.add_int("ssm.time_step_rank", step_rank(config, "time_step_rank"));
  model.add_int("ssm.inner_size",
                checked_mul(config.get_int("expand"), width).value_or(-1));
}

void describe_falcon_mamba(Description& model) {
  describe_mamba(model);
  const Config& config = model.config();
  model.add_flag("ssm.dt_b_c_rms", true);
  const double epsilon = config.get_number("mixer_rms_eps");
  if (epsilon != config.get_number("layer_norm_epsilon")) {
    model.add_number("ssm.dt_b_c_rms_epsilon", epsilon);
  }
}

}  // namespace

constexpr Architecture kMamba = {
    .model_type = "mamba",
    .name = "mamba",
    .defaults = R"({"layer_norm_epsilon": 1e-5, "conv_kernel": 4,
                    "state_size": 16, "expand": 2,
                    "tie_word_embeddings": true})",
    .rules = {kMambaRules},
    .describe = describe_mamba,
};

constexpr Architecture kFalconMamba = {
    .model_type = "falcon_mamba",
    .name = "mamba",
    .defaults = R"({"layer_norm_epsilon": 1e-5, "mixer_rms_eps": 1e-6,
                    "conv_kernel": 4, "state_size": 16, "expand": 2,
                    "tie_word_embeddings": true})",
    .rules = {kMambaRules},
    .describe = describe_falcon_mamba,
};

}  // namespace rc::folder
