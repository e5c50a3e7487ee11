// Llama, XVERSE, InternLM 3 and IQuest-Coder, which are the same, Mistral,
// which adds a window, and CWM, of which some layers have one.
#include <vector>

#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

void describe_llama(Description& model) {
  expect_text(model.config(), "hidden_act", {"silu"});
  add_decoder(model);
}

// The model's own code can do what these members ask for, and no release does.
void describe_iquest_coder(Description& model) {
  expect_none(model.config(), "clip_qkv");
  expect_flag(model.config(), "use_sliding_window", false);
  describe_llama(model);
}

void describe_mistral(Description& model) {
  describe_llama(model);
  add_window(model);
}

void describe_cwm(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  add_decoder(model, {.default_rope = R"({"rope_type": "llama3",
      "rope_theta": 1e6, "factor": 16.0, "low_freq_factor": 1.0,
      "high_freq_factor": 4.0, "original_max_position_embeddings": 8192})"});
  add_window(model);
  if (config.find("layer_types") != nullptr) return add_window_layers(model);
  std::vector<bool> windowed;
  for (int64_t i = 0; i < layer_count(config); ++i) {
    windowed.push_back(i % 4 != 0);
  }
  model.add_flags("attention.sliding_window_pattern", windowed);
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

constexpr Architecture kInternLm3 = {
    .model_type = "internlm3",
    .name = "llama",
    .defaults = R"({"max_position_embeddings": 32768, "rms_norm_eps": 1e-5,
                    "num_key_value_heads": 2, "head_dim": 128,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kPairedAttentionRules, kNormRules},
    .describe = describe_llama,
};

constexpr Architecture kIQuestCoder = {
    .model_type = "iquestcoder",
    .name = "llama",
    .defaults = R"({"max_position_embeddings": 131072, "rms_norm_eps": 1e-5,
                    "num_key_value_heads": 8, "head_dim": 128,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kPairedAttentionRules, kNormRules},
    .describe = describe_iquest_coder,
};

constexpr Architecture kCwm = {
    .model_type = "cwm",
    .name = "llama",
    .defaults = R"({"max_position_embeddings": 131072, "rms_norm_eps": 1e-5,
                    "num_key_value_heads": 8, "head_dim": 128,
                    "sliding_window": 8192, "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kPairedAttentionRules, kNormRules},
    .describe = describe_cwm,
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
