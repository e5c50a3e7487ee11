// EXAONE 4.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

void describe_exaone4(Description& model) {
  expect_text(model.config(), "hidden_act", {"silu"});
  add_decoder(model);
  add_window(model);
  add_window_layers(model);
}

}  // namespace

constexpr Architecture kExaone4 = {
    .model_type = "exaone4",
    .name = "exaone4",
    .defaults = R"({"rms_norm_eps": 1e-5, "max_position_embeddings": 2048,
                    "num_key_value_heads": 32, "sliding_window": 4096,
                    "sliding_window_pattern": 4,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kAttentionRules, kNormBehindRules, kHeadNormRules},
    .describe = describe_exaone4,
};

}  // namespace rc::folder
