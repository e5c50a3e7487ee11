// Seed-OSS.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

void describe_seed_oss(Description& model) {
  expect_text(model.config(), "hidden_act", {"silu"});
  add_decoder(model);
}

}  // namespace

constexpr Architecture kSeedOss = {
    .model_type = "seed_oss",
    .name = "seed_oss",
    .defaults = R"({"num_key_value_heads": 8, "rms_norm_eps": 1e-6,
                    "head_dim": 128, "max_position_embeddings": 524288,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kAttentionRules, kPostAttentionNormRules},
    .describe = describe_seed_oss,
};

}  // namespace rc::folder
