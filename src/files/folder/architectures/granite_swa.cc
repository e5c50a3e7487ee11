// Granite with sinks and windows.
#include <vector>

#include "files/folder/architectures/granite_rules.h"
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr Rule kSinkRules[] = {
    {"model.layers.*.self_attn.sinks", "blk.*.attn_sinks.weight"},
};

// Which layers rotate, with one base: layer_rope_theta, in which 0 stands for
// those that do not, or no_rope_layers, of which 0 says the same. Returns the
// base that the former says, or 0.
double add_rotating_layers(Description& model) {
  const Config& config = model.config();
  constexpr std::string_view kBases = "layer_rope_theta";
  const auto bases = config.find_numbers(kBases);
  const auto others = config.find_ints("no_rope_layers");
  if (!bases && !others) return 0.0;
  double base = 0.0;
  std::vector<bool> rotating;
  for (size_t i = 0; i < (bases ? bases->size() : others->size()); ++i) {
    if (!bases) {
      rotating.push_back((*others)[i] != 0);
      continue;
    }
    const double own = (*bases)[i];
    rotating.push_back(own != 0.0);
    if (base == 0.0) base = own;
    if (own != 0.0 && own != base) {
      config.refuse(RC_E_UNSUPPORTED, kBases, " has ", own, " for layer ", i,
                    " and ", base,
                    " for one before; one base, and 0, can be computed");
    }
  }
  model.add_flags("attention.rope_pattern", rotating);
  return base;
}

void describe_granite_swa(Description& model) {
  expect_text(model.config(), "hidden_act", {"silu"});
  add_decoder(model, {.base = add_rotating_layers(model)});
  add_window(model);
  add_window_layers(model);
  add_granite_factors(model);
}

}  // namespace

constexpr Architecture kGraniteSwa = {
    .model_type = "granite_swa",
    .name = "granite_swa",
    .defaults = R"({"max_position_embeddings": 8192, "rms_norm_eps": 1e-5,
                    "num_key_value_heads": 4, "sliding_window": 128,
                    "embedding_multiplier": 1.0, "logits_scaling": 1.0,
                    "residual_multiplier": 1.0, "attention_multiplier": 1.0,
                    "tie_word_embeddings": true})",
    .rules = {kDecoderRules, kPairedAttentionRules, kNormRules, kSinkRules},
    .describe = describe_granite_swa,
};

}  // namespace rc::folder
