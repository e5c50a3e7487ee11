// ERNIE 4.5 without experts, which rotates adjacent pairs itself.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

void describe_ernie4_5(Description& model) {
  expect_text(model.config(), "hidden_act", {"silu"});
  add_decoder(model);
}

}  // namespace

constexpr Architecture kErnie45 = {
    .model_type = "ernie4_5",
    .name = "ernie4_5",
    .defaults = R"({"num_key_value_heads": 2, "rms_norm_eps": 1e-5,
                    "head_dim": 128, "max_position_embeddings": 131072,
                    "rope_theta": 500000.0, "tie_word_embeddings": true})",
    .rules = {kDecoderRules, kAttentionRules, kNormRules},
    .describe = describe_ernie4_5,
};

}  // namespace rc::folder
