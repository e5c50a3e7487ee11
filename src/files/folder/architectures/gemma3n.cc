// Gemma 3n, its text. Norms hold their weights as they are.
#include <cmath>
#include <limits>

#include "files/folder/architectures/gemma_rules.h"
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr Rule kGemma3nRules[] = {
    {"model.altup_projections.*.weight", "altup_proj.weight"},
    {"model.altup_unembed_projections.*.weight", "altup_unembd_proj.weight"},
    {"model.layers.*.altup.correction_coefs.weight",
     "blk.*.altup_correct_coef.weight"},
    {"model.layers.*.altup.prediction_coefs.weight",
     "blk.*.altup_predict_coef.weight"},
    {"model.layers.*.altup.modality_router.weight",
     "blk.*.altup_router.weight"},
    {"model.layers.*.altup.router_norm.weight",
     "blk.*.altup_router_norm.weight"},
    {"model.layers.*.altup.correct_output_scale",
     "blk.*.altup_correct_scale.weight"},
    {"model.layers.*.laurel.linear_left.weight", "blk.*.laurel_l.weight"},
    {"model.layers.*.laurel.linear_right.weight", "blk.*.laurel_r.weight"},
    {"model.layers.*.laurel.post_laurel_norm.weight",
     "blk.*.laurel_post_norm.weight"},
};

// Returns the quantile of the standard normal distribution for a share.
double quantile(double share) {
  double low = -10.0;
  double high = 10.0;
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (low + high);
    const double below = 0.5 * std::erfc(-middle / std::sqrt(2.0));
    (below < share ? low : high) = middle;
  }
  return low;
}

// Adds the sparsity of each layer's gates; by default 95 of 100 are cut off in
// the first ten layers, if there are more than ten.
void add_sparsity(Description& model) {
  const Config& config = model.config();
  constexpr std::string_view kKey = "activation_sparsity_pattern";
  const auto layers = static_cast<size_t>(layer_count(config));
  std::vector<double> shares(layers, 0.0);
  if (config.find(kKey) == nullptr) {
    for (size_t i = 0; i < 10 && layers > 10; ++i) shares[i] = 0.95;
  } else {
    shares = *config.find_numbers(kKey);
  }
  if (shares.size() != layers) {
    config.refuse(RC_E_FORMAT, kKey, " has ", shares.size(),
                  " numbers, but num_hidden_layers is ", layers);
  }
  std::vector<float> cutoffs;
  for (const double share : shares) {
    if (!(share >= 0.0 && share < 1.0)) {
      config.refuse(RC_E_FORMAT, kKey, " holds ", share,
                    ", but must be at least 0 and below 1");
    }
    cutoffs.push_back(share == 0.0 ? -std::numeric_limits<float>::infinity()
                                   : static_cast<float>(quantile(share)));
  }
  model.add_numbers(cat(model.architecture(), ".activation_sparsity_scale"),
                    cutoffs);
}

// One size for all layers, or one for each.
void add_gemma3n_sizes(Description& model) {
  const Config& config = model.config();
  constexpr std::string_view kKey = "intermediate_size";
  const JsonValue* sizes = config.find(kKey);
  if (sizes == nullptr || sizes->type != JsonValue::Type::kArray) {
    model.add_int("feed_forward_length", config.get_int(kKey));
    return;
  }
  model.add_ints("feed_forward_length", *config.find_ints(kKey));
}

void describe_gemma3n(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_activation", {"gelu_pytorch_tanh"});
  expect_flag(config, "attention_bias", false);
  expect_flag(config, "altup_correct_scale", true);
  add_decoder_sizes(model, {.feed_forward = {}});
  add_gemma3n_sizes(model);
  model.add_int("attention.head_count_kv",
                config.get_int("num_key_value_heads"));
  add_rope(model);
  add_window(model);
  add_window_layers(model);
  add_sparsity(model);
  model.add_int("attention.shared_kv_layers",
                config.get_int("num_kv_shared_layers"));
  model.add_int("embedding_length_per_layer_input",
                config.get_int("hidden_size_per_layer_input"));
  model.add_int("altup.num_inputs", config.get_int("altup_num_inputs"));
  model.add_int("altup.active_idx", config.get_int("altup_active_idx"));
  model.add_number("final_logit_softcapping",
                   config.find_number("final_logit_softcapping").value_or(0.0));
}

constexpr std::string_view kGemma3nDefaults =
    R"({"hidden_size": 2048, "intermediate_size": 16384,
        "num_hidden_layers": 35, "num_attention_heads": 8,
        "num_key_value_heads": 2, "head_dim": 256, "vocab_size": 262400,
        "rms_norm_eps": 1e-6, "max_position_embeddings": 32768,
        "sliding_window": 512, "rope_theta": 1e6, "rope_local_base_freq": 1e4,
        "final_logit_softcapping": 30.0, "hidden_size_per_layer_input": 256,
        "altup_num_inputs": 4, "altup_active_idx": 0,
        "num_kv_shared_layers": 15, "sliding_window_pattern": 5,
        "tie_word_embeddings": true})";

}  // namespace

constexpr Architecture kGemma3nText = {
    .model_type = "gemma3n_text",
    .name = "gemma3n",
    .defaults = kGemma3nDefaults,
    .rules = {kDecoderRules, kAttentionRules, kHeadNormRules,
              kPlainSandwichRules, kPerLayerRules, kGemma3nRules},
    .describe = describe_gemma3n,
};

// With pictures and sounds; what is read is the text.
constexpr Architecture kGemma3n = {
    .model_type = "gemma3n",
    .name = "gemma3n",
    .defaults = kGemma3nDefaults,
    .renames = {{"language_model.", ""}, {"model.language_model.", "model."}},
    .rules = {kDecoderRules, kAttentionRules, kHeadNormRules,
              kPlainSandwichRules, kPerLayerRules, kGemma3nRules},
    .describe = describe_gemma3n,
    .part = "text_config",
};

}  // namespace rc::folder
