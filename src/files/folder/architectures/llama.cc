// Llama, XVERSE, which is the same, and Mistral, which adds a window.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

void describe_llama(Description& model) {
  expect_text(model.config(), "hidden_act", {"silu"});
  add_decoder(model);
}

void describe_mistral(Description& model) {
  describe_llama(model);
  add_window(model);
}

}  // namespace

constexpr Architecture kLlama = {
    .model_type = "llama",
    .name = "llama",
    .defaults = R"({"max_position_embeddings": 2048, "rms_norm_eps": 1e-6,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kPairedAttentionRules, kNormRules},
    .describe = describe_llama,
};

constexpr Architecture kXverse = {
    .model_type = "xverse",
    .name = "xverse",
    .defaults = R"({"max_position_embeddings": 2048, "rms_norm_eps": 1e-6,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kPairedAttentionRules, kNormRules},
    .describe = describe_llama,
};

constexpr Architecture kMistral = {
    .model_type = "mistral",
    .name = "llama",
    .defaults = R"({"num_key_value_heads": 8, "rms_norm_eps": 1e-6,
                    "max_position_embeddings": 131072,
                    "sliding_window": 4096, "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kPairedAttentionRules, kNormRules},
    .describe = describe_mistral,
};

}  // namespace rc::folder
