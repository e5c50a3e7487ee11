// EuroBERT.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr Rule kEuroBertRules[] = {
    // Without the prefix that all others have.
    {"norm.weight", "output_norm.weight"},
    // The head behind the last layer.
    {"dense.%", ""},
    {"classifier.%", ""},
};

void describe_eurobert(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_flag(config, "attention_bias", false);
  expect_flag(config, "mlp_bias", false);
  add_decoder(model);
  model.add_flag("attention.causal", false);
}

}  // namespace

constexpr Architecture kEuroBert = {
    .model_type = "eurobert",
    .name = "eurobert",
    .defaults = R"({"rms_norm_eps": 1e-5, "max_position_embeddings": 8192,
                    "rope_theta": 250000.0, "tie_word_embeddings": true})",
    .renames = {{"layers.", "model.layers."},
                {"embed_tokens.", "model.embed_tokens."}},
    .rules = {kDecoderRules, kAttentionRules, kNormRules, kEuroBertRules},
    .describe = describe_eurobert,
    .gives_hidden_rows = true,
};

}  // namespace rc::folder
