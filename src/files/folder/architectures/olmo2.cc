// OLMo 2, and OLMo 3, of which most layers see a window. Their norms are behind
// what they norm.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

void describe_olmo2(Description& model) {
  expect_text(model.config(), "hidden_act", {"silu"});
  add_decoder(model);
}

void describe_olmo3(Description& model) {
  describe_olmo2(model);
  add_window(model);
  add_window_layers(model);
}

}  // namespace

constexpr Architecture kOlmo2 = {
    .model_type = "olmo2",
    .name = "olmo2",
    .defaults = R"({"rms_norm_eps": 1e-5, "max_position_embeddings": 2048,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kAttentionRules, kNormBehindRules, kHeadNormRules},
    .describe = describe_olmo2,
};

constexpr Architecture kOlmo3 = {
    .model_type = "olmo3",
    .name = "olmo2",
    .defaults = R"({"rms_norm_eps": 1e-5, "max_position_embeddings": 2048,
                    "sliding_window": 4096, "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kAttentionRules, kNormBehindRules, kHeadNormRules},
    .describe = describe_olmo3,
};

}  // namespace rc::folder
