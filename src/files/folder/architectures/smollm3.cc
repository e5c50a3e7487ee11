// SmolLM 3: every fourth layer does not rotate.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

void describe_smollm3(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_no_window(config);
  if (const auto rotated = config.find_ints("no_rope_layers")) {
    for (size_t i = 0; i < rotated->size(); ++i) {
      if (((*rotated)[i] != 0) == ((i + 1) % 4 != 0)) continue;
      config.refuse(RC_E_UNSUPPORTED, "no_rope_layers", " has ", (*rotated)[i],
                    " for layer ", i,
                    "; every fourth layer is computed without rotation");
    }
  } else {
    expect_number(config, "no_rope_layer_interval", 4);
  }
  add_decoder(model);
}

}  // namespace

constexpr Architecture kSmolLm3 = {
    .model_type = "smollm3",
    .name = "smollm3",
    .defaults = R"({"num_key_value_heads": 4, "rms_norm_eps": 1e-6,
                    "max_position_embeddings": 32768, "rope_theta": 2000000.0,
                    "tie_word_embeddings": true})",
    .rules = {kDecoderRules, kPairedAttentionRules, kNormRules},
    .describe = describe_smollm3,
};

}  // namespace rc::folder
