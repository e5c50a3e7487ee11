// Ministral 3, alone and with pictures.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr std::string_view kMinistral3Defaults =
    R"({"rms_norm_eps": 1e-5, "max_position_embeddings": 262144,
        "num_key_value_heads": 8, "head_dim": 128,
        "tie_word_embeddings": false})";

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
  add_decoder(model);
  add_window(model);
  const auto rope = config.find_object("rope_parameters");
  if (!rope) return;
  if (const auto scale = rope->find_number("llama_4_scaling_beta")) {
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
