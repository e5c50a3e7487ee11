// Gemma 2, the text of Gemma 3, and EmbeddingGemma. Their norms multiply by one
// plus what folders hold.
#include <cmath>

#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr Rule kSandwichRules[] = {
    {"model.norm.weight", "output_norm.weight", plus_one},
    {"model.layers.*.input_layernorm.weight", "blk.*.attn_norm.weight",
     plus_one},
    {"model.layers.*.post_attention_layernorm.weight",
     "blk.*.post_attention_norm.weight", plus_one},
    {"model.layers.*.pre_feedforward_layernorm.weight", "blk.*.ffn_norm.weight",
     plus_one},
    {"model.layers.*.post_feedforward_layernorm.weight",
     "blk.*.post_ffw_norm.weight", plus_one},
    {"model.layers.*.self_attn.q_norm.weight", "blk.*.attn_q_norm.weight",
     plus_one},
    {"model.layers.*.self_attn.k_norm.weight", "blk.*.attn_k_norm.weight",
     plus_one},
    // Pictures, which are not taken.
    {"vision_tower.%", ""},
    {"multi_modal_projector.%", ""},
    {"model.vision_tower.%", ""},
    {"model.multi_modal_projector.%", ""},
};

// Absent means what the defaults say; null means none.
void add_softcap(Description& model, const char* key) {
  model.add_number(key, model.config().find_number(key).value_or(0.0));
}

void add_scale(Description& model) {
  const double size = model.config().get_number("query_pre_attn_scalar");
  if (!(size > 0.0)) {
    model.config().refuse(RC_E_FORMAT, "query_pre_attn_scalar", " is ", size,
                          ", but must be above 0");
  }
  model.add_number("attention.scale", 1.0 / std::sqrt(size));
}

void add_gemma(Description& model) {
  expect_text(model.config(), "hidden_activation", {"gelu_pytorch_tanh"});
  add_decoder(model);
  add_window(model);
  add_window_layers(model);
  add_scale(model);
  add_softcap(model, "final_logit_softcapping");
}

void describe_gemma2(Description& model) {
  add_gemma(model);
  add_softcap(model, "attn_logit_softcapping");
}

// Its configuration may have attn_logit_softcapping, as Gemma 2 has, which
// transformers computes nothing with.
void describe_gemma3(Description& model) {
  add_gemma(model);
  expect_flag(model.config(), "use_bidirectional_attention", false);
}

// Of EmbeddingGemma, without the prefix that all others have.
constexpr Rule kEmbeddingRules[] = {
    {"norm.weight", "output_norm.weight", plus_one},
};

bool sees_both_sides(const Config& config) {
  return config.find_flag("use_bidirectional_attention").value_or(false);
}

void describe_embedding(Description& model) {
  add_gemma(model);
  model.add_flag("attention.causal", false);
}

constexpr std::string_view kGemma3Defaults =
    R"({"hidden_size": 2304, "intermediate_size": 9216,
        "num_hidden_layers": 26, "num_attention_heads": 8,
        "num_key_value_heads": 4, "head_dim": 256, "vocab_size": 262208,
        "rms_norm_eps": 1e-6, "max_position_embeddings": 131072,
        "query_pre_attn_scalar": 256, "sliding_window": 4096,
        "rope_theta": 1e6, "rope_local_base_freq": 1e4,
        "tie_word_embeddings": true})";

}  // namespace

constexpr Architecture kGemma2 = {
    .model_type = "gemma2",
    .name = "gemma2",
    .defaults = R"({"num_key_value_heads": 4, "rms_norm_eps": 1e-6,
                    "head_dim": 256, "max_position_embeddings": 8192,
                    "query_pre_attn_scalar": 256, "sliding_window": 4096,
                    "final_logit_softcapping": 30.0,
                    "attn_logit_softcapping": 50.0,
                    "tie_word_embeddings": true})",
    .rules = {kDecoderRules, kAttentionRules, kSandwichRules},
    .describe = describe_gemma2,
};

constexpr Architecture kGemmaEmbedding = {
    .model_type = "gemma3_text",
    .applies = sees_both_sides,
    .name = "gemma-embedding",
    .defaults = kGemma3Defaults,
    .renames = {{"layers.", "model.layers."},
                {"embed_tokens.", "model.embed_tokens."}},
    .rules = {kDecoderRules, kAttentionRules, kSandwichRules, kEmbeddingRules},
    .describe = describe_embedding,
    .gives_hidden_rows = true,
};

constexpr Architecture kGemma3Text = {
    .model_type = "gemma3_text",
    .name = "gemma3",
    .defaults = kGemma3Defaults,
    .rules = {kDecoderRules, kAttentionRules, kSandwichRules},
    .describe = describe_gemma3,
};

// With pictures; what is read is the text.
constexpr Architecture kGemma3 = {
    .model_type = "gemma3",
    .name = "gemma3",
    .defaults = kGemma3Defaults,
    .renames = {{"language_model.", ""}, {"model.language_model.", "model."}},
    .rules = {kDecoderRules, kAttentionRules, kSandwichRules},
    .describe = describe_gemma3,
    .part = "text_config",
};

}  // namespace rc::folder
