// Jais 2.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

void describe_jais2(Description& model) {
  expect_text(model.config(), "hidden_act", {"relu2"});
  add_decoder(model, {.layer_norm = "layer_norm_eps"});
}

}  // namespace

constexpr Architecture kJais2 = {
    .model_type = "jais2",
    .name = "jais2",
    .defaults = R"({"layer_norm_eps": 1e-5, "max_position_embeddings": 8192,
                    "hidden_act": "relu2", "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kAttentionRules, kLayerNormRules},
    .describe = describe_jais2,
};

}  // namespace rc::folder
