// Ministral 3, alone and with pictures.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr std::string_view kMinistral3Defaults =
    R"({"rms_norm_eps": 1e-5, "max_position_embeddings": 262144,
        "num_key_value_heads": 8, "head_dim": 128,
        "tie_word_embeddings": false})";

constexpr std::string_view kMistralRope =
    R"({"rope_type": "yarn", "rope_theta": 1e6, "factor": 16.0,
        "original_max_position_embeddings": 16384, "beta_fast": 32.0,
        "beta_slow": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0,
        "llama_4_scaling_beta": 0.1})";

// Pictures are not read.
constexpr Rule kPictureRules[] = {
    {"vision_tower.%", ""},
    {"multi_modal_projector.%", ""},
    {"model.vision_tower.%", ""},
    {"model.multi_modal_projector.%", ""},
};

void describe_ministral3(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  add_decoder(model, {.default_rope = kMistralRope});
  add_window(model);
  const Config rope = config.find_object("rope_parameters")
                          .value_or(Config::parse(kMistralRope, config.file()));
  if (const auto scale = rope.find_number("llama_4_scaling_beta")) {
    model.add_number("attention.temperature_scale", *scale);
  }
}

}  // namespace

constexpr Architecture kMinistral3 = {
    .model_type = "ministral3",
    .name = "mistral3",
    .defaults = kMinistral3Defaults,
    .rules = {kDecoderRules, kPairedAttentionRules, kNormRules},
    .describe = describe_ministral3,
};

constexpr Architecture kMistral3 = {
    .model_type = "mistral3",
    .name = "mistral3",
    .defaults = kMinistral3Defaults,
    .renames = {{"language_model.", ""}, {"model.language_model.", "model."}},
    .rules = {kDecoderRules, kPairedAttentionRules, kNormRules, kPictureRules},
    .describe = describe_ministral3,
    .part = "text_config",
};

}  // namespace rc::folder
