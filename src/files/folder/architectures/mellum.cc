// Mellum 2: Qwen 3 with experts in every layer, of which some see a window.
#include <algorithm>

#include "base/quote.h"
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

// Of a part that guesses further tokens.
constexpr Rule kMellumRules[] = {
    {"mtp.%", ""},
};

void expect_no_dense_layer(const Config& config) {
  constexpr std::string_view kTypes = "mlp_layer_types";
  for (const std::string& type :
       config.find_texts(kTypes).value_or(std::vector<std::string>())) {
    if (type == "sparse") continue;
    config.refuse(RC_E_UNSUPPORTED, kTypes, " holds ", quote(type),
                  "; models of type mellum are computed with sparse, experts "
                  "in every layer");
  }
}

// Layers see all where nothing names them.
void add_mellum_windows(Description& model) {
  const Config& config = model.config();
  const auto full = find_full_layers(config, "sliding_attention");
  if (!full || std::ranges::find(*full, false) == full->end()) return;
  expect_flag(config, "use_sliding_window", true);
  add_window(model);
  add_window_layers(model);
}

void describe_mellum(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_flag(config, "attention_bias", false);
  expect_no_dense_layer(config);
  add_decoder(model);
  add_mellum_windows(model);
  add_experts(model);
  add_normalized(model);
}

}  // namespace

constexpr Architecture kMellum = {
    .model_type = "mellum",
    .name = "mellum",
    .defaults = R"({"num_key_value_heads": 4, "rms_norm_eps": 1e-6,
                    "head_dim": 128, "max_position_embeddings": 131072,
                    "sliding_window": 1024, "num_experts": 64,
                    "num_experts_per_tok": 8, "moe_intermediate_size": 896,
                    "intermediate_size": 7168, "norm_topk_prob": true,
                    "rope_parameters": {
                        "full_attention": {"rope_type": "default",
                                           "rope_theta": 500000.0},
                        "sliding_attention": {"rope_type": "default",
                                              "rope_theta": 10000.0}},
                    "tie_word_embeddings": false})",
    .aliases = {{"num_local_experts", "num_experts"}},
    .rules = {kDecoderRules, kAttentionRules, kNormRules, kHeadNormRules,
              kExpertRules, kMellumRules},
    .describe = describe_mellum,
};

}  // namespace rc::folder
