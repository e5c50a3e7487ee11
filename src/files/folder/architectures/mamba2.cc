// Mamba 2: every layer is a selective state space.
#include "base/checked.h"
#include "files/folder/architectures/list.h"
#include "files/folder/state_spaces.h"

namespace rc::folder {
namespace {

constexpr Rule kMamba2Rules[] = {
    {"backbone.embeddings.weight", "token_embd.weight"},
    {"backbone.norm_f.weight", "output_norm.weight"},
    {"lm_head.weight", "output.weight"},
    {"backbone.layers.*.norm.weight", "blk.*.attn_norm.weight"},
};

void describe_mamba2(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_flag(config, "rms_norm", true);
  add_step_limits(model);
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
    .rules = {kMamba2Rules, kMixerSpaceRules},
    .describe = describe_mamba2,
};

}  // namespace rc::folder
