// Orion: Llama with layer norms.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

void describe_orion(Description& model) {
  expect_text(model.config(), "hidden_act", {"silu"});
  // So is what layer norms add called there.
  add_decoder(model, {.layer_norm = "rms_norm_eps"});
}

}  // namespace

constexpr Architecture kOrion = {
    .model_type = "orion",
    .name = "orion",
    .defaults = R"({"max_position_embeddings": 4096, "rms_norm_eps": 1e-5,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kAttentionRules, kLayerNormRules},
    .describe = describe_orion,
};

}  // namespace rc::folder
