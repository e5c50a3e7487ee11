// Granite with sinks and windows, also with experts.
#include <vector>

#include "files/folder/architectures/granite_rules.h"
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr Rule kSinkRules[] = {
    {"model.layers.*.self_attn.sinks", "blk.*.attn_sinks.weight"},
};

// Experts whose gate and other product stay one tensor.
constexpr Rule kGraniteJoinedRules[] = {
    {"model.layers.*.block_sparse_moe.router.layer.weight",
     "blk.*.ffn_gate_inp.weight"},
    {"model.layers.*.block_sparse_moe.input_linear.weight",
     "blk.*.ffn_gate_up_exps.weight"},
    {"model.layers.*.block_sparse_moe.output_linear.weight",
     "blk.*.ffn_down_exps.weight"},
    {"model.layers.*.shared_mlp.input_linear.weight",
     "blk.*.ffn_up_shexp.weight"},
    {"model.layers.*.shared_mlp.output_linear.weight",
     "blk.*.ffn_down_shexp.weight"},
    // The names of the class.
    {"model.layers.*.block_sparse_moe.router.weight",
     "blk.*.ffn_gate_inp.weight"},
    {"model.layers.*.block_sparse_moe.experts.gate_up_proj",
     "blk.*.ffn_gate_up_exps.weight"},
    {"model.layers.*.block_sparse_moe.experts.down_proj",
     "blk.*.ffn_down_exps.weight"},
};

// Adds which layers rotate: those with a base in layer_rope_theta that is not
// 0, or with a 1 in no_rope_layers. Returns the base, which must be one for
// all, or 0 if the configuration has it elsewhere.
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

void describe_granite_moe_swa(Description& model) {
  describe_granite_swa(model);
  add_granite_experts(model);
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

constexpr Architecture kGraniteMoeSwa = {
    .model_type = "granitemoe_swa",
    .name = "granite_swa",
    .defaults = R"({"max_position_embeddings": 2048, "rms_norm_eps": 1e-6,
                    "sliding_window": 128, "num_local_experts": 8,
                    "num_experts_per_tok": 2,
                    "embedding_multiplier": 1.0, "logits_scaling": 1.0,
                    "residual_multiplier": 1.0, "attention_multiplier": 1.0,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kPairedAttentionRules, kNormRules, kSinkRules,
              kGraniteJoinedRules},
    .describe = describe_granite_moe_swa,
};

}  // namespace rc::folder
