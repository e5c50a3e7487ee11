// The text parts of Qwen 2 VL and 2.5 VL.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"
#include "files/folder/pictures.h"

namespace rc::folder {
namespace {

constexpr std::string_view kQwen2VlDefaults =
    R"({"num_key_value_heads": 8, "rms_norm_eps": 1e-5,
        "max_position_embeddings": 32768, "max_window_layers": 80,
        "rope_theta": 1e6, "tie_word_embeddings": false})";

void describe_qwen2vl(Description& model) {
  expect_text(model.config(), "hidden_act", {"silu"});
  expect_no_window(model.config());
  add_decoder(model);
  add_rope_sections(model);
}

}  // namespace

constexpr Architecture kQwen2Vl = {
    .model_type = "qwen2_vl",
    .name = "qwen2vl",
    .defaults = kQwen2VlDefaults,
    .renames = {kTextPartRename, {}},
    .rules = {kDecoderRules, kAttentionRules, kNormRules, kVisualRules},
    .describe = describe_qwen2vl,
    .part = "text_config",
};

constexpr Architecture kQwen25Vl = {
    .model_type = "qwen2_5_vl",
    .name = "qwen2vl",
    .defaults = kQwen2VlDefaults,
    .renames = {kTextPartRename, {}},
    .rules = {kDecoderRules, kAttentionRules, kNormRules, kVisualRules},
    .describe = describe_qwen2vl,
    .part = "text_config",
};

}  // namespace rc::folder
