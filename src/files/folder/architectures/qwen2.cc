// Qwen 2 and 2.5.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

void describe_qwen2(Description& model) {
  expect_text(model.config(), "hidden_act", {"silu"});
  expect_no_window(model.config());
  add_decoder(model);
}

}  // namespace

constexpr Architecture kQwen2 = {
    .model_type = "qwen2",
    .name = "qwen2",
    .defaults = R"({"num_key_value_heads": 32, "rms_norm_eps": 1e-6,
                    "max_position_embeddings": 32768, "max_window_layers": 28,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kAttentionRules, kNormRules},
    .describe = describe_qwen2,
};

}  // namespace rc::folder
