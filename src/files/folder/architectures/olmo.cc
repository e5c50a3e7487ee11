// OLMo, whose norms have no weights, and OLMoE.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

void describe_olmo(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  if (const auto limit = config.find_number("clip_qkv")) {
    model.add_number("attention.clamp_kqv", *limit);
  }
  add_decoder(model, {.layer_norm = "layer_norm_eps"});
}

void describe_olmoe(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_none(config, "clip_qkv");
  add_decoder(model);
  add_experts(model, {.size = "intermediate_size"});
  add_normalized(model);
}

}  // namespace

// The norms' epsilon is always that.
constexpr Architecture kOlmo = {
    .model_type = "olmo",
    .name = "olmo",
    .defaults = R"({"layer_norm_eps": 1e-5, "max_position_embeddings": 2048,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kPairedAttentionRules},
    .describe = describe_olmo,
};

constexpr Architecture kOlmoe = {
    .model_type = "olmoe",
    .name = "olmoe",
    .defaults = R"({"rms_norm_eps": 1e-5, "max_position_embeddings": 4096,
                    "num_experts": 64, "num_experts_per_tok": 8,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kAttentionRules, kNormRules, kHeadNormRules,
              kExpertRules},
    .describe = describe_olmoe,
};

}  // namespace rc::folder
