// Command R and R7B, of which most layers see a window. They rotate adjacent
// pairs themselves.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr Rule kCohereRules[] = {
    {"model.norm.weight", "output_norm.weight"},
    {"model.layers.*.input_layernorm.weight", "blk.*.attn_norm.weight"},
};

void describe_cohere(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  add_decoder(model, {.layer_norm = "layer_norm_eps"});
  model.add_number("logit_scale", config.get_number("logit_scale"));
}

void describe_cohere2(Description& model) {
  expect_flag(model.config(), "use_qk_norm", false);
  describe_cohere(model);
  model.add_int("attention.sliding_window",
                model.config().get_int("sliding_window"));
  add_window_layers(model);
}

}  // namespace

constexpr Architecture kCohere = {
    .model_type = "cohere",
    .name = "command-r",
    .defaults = R"({"layer_norm_eps": 1e-5, "max_position_embeddings": 8192,
                    "logit_scale": 0.0625, "tie_word_embeddings": true})",
    .rules = {kDecoderRules, kAttentionRules, kCohereRules, kHeadNormRules},
    .describe = describe_cohere,
};

constexpr Architecture kCohere2 = {
    .model_type = "cohere2",
    .name = "cohere2",
    .defaults = R"({"layer_norm_eps": 1e-5, "max_position_embeddings": 8192,
                    "logit_scale": 0.0625, "sliding_window": 4096,
                    "tie_word_embeddings": true})",
    .rules = {kDecoderRules, kAttentionRules, kCohereRules},
    .describe = describe_cohere2,
};

}  // namespace rc::folder
