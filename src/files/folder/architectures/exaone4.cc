// EXAONE 4, and the text part of EXAONE 4.5.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"
#include "files/folder/pictures.h"

namespace rc::folder {
namespace {

constexpr Rule kGuessingRules[] = {
    // A part that guesses further tokens.
    {"mtp.%", ""},
};

void describe_exaone4(Description& model) {
  expect_text(model.config(), "hidden_act", {"silu"});
  add_decoder(model);
  add_window(model);
  add_window_layers(model);
}

constexpr std::string_view kExaone4Defaults =
    R"({"rms_norm_eps": 1e-5, "max_position_embeddings": 2048,
        "num_key_value_heads": 32, "sliding_window": 4096,
        "sliding_window_pattern": 4, "tie_word_embeddings": false})";

}  // namespace

constexpr Architecture kExaone4 = {
    .model_type = "exaone4",
    .name = "exaone4",
    .defaults = kExaone4Defaults,
    .rules = {kDecoderRules, kAttentionRules, kNormBehindRules, kHeadNormRules},
    .describe = describe_exaone4,
};

constexpr Architecture kExaone45 = {
    .model_type = "exaone4_5",
    .name = "exaone4",
    .defaults = kExaone4Defaults,
    .renames = {kTextPartRename, {}},
    .rules = {kDecoderRules, kAttentionRules, kNormBehindRules, kHeadNormRules,
              kVisualRules, kGuessingRules},
    .describe = describe_exaone4,
    .part = "text_config",
};

}  // namespace rc::folder
