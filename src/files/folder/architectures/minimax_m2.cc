// MiniMax M2. How much of a head rotates is a number of elements in older
// folders.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr Rule kMiniMaxM2Rules[] = {
    {"model.layers.*.block_sparse_moe.gate.weight",
     "blk.*.ffn_gate_inp.weight"},
    {"model.layers.*.block_sparse_moe.e_score_correction_bias",
     "blk.*.exp_probs_b.bias"},
    {"model.layers.*.block_sparse_moe.experts.*.w1.weight",
     "blk.*.ffn_gate_exps.weight"},
    {"model.layers.*.block_sparse_moe.experts.*.w2.weight",
     "blk.*.ffn_down_exps.weight"},
    {"model.layers.*.block_sparse_moe.experts.*.w3.weight",
     "blk.*.ffn_up_exps.weight"},
};

void describe_minimax_m2(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_text(config, "scoring_func", {"sigmoid"});
  expect_text(config, "qk_norm_type", {"per_layer"});
  add_decoder_sizes(model);
  model.add_int("attention.head_count_kv",
                config.get_int("num_key_value_heads"));
  add_experts(model,
              {.count = "num_local_experts", .size = "intermediate_size"});
  // GGUF's number of the sigmoid.
  model.add_int("expert_gating_func", 2);
  const auto rotated = config.find_int("rotary_dim");
  const auto rope = config.find_object("rope_parameters");
  // Folders that transformers writes have both members; it computes with this
  // one.
  if (!rotated || (rope && rope->has("partial_rotary_factor"))) {
    return add_rope(model, {.rotated_part = "partial_rotary_factor"});
  }
  if (rope) expect_plain_rope(*rope);
  expect_none(config, "rope_scaling");
  model.add_int("rope.dimension_count", *rotated);
  model.add_number(
      "rope.freq_base",
      (rope ? rope->find_number("rope_theta") : std::nullopt)
          .value_or(config.find_number("rope_theta").value_or(5e6)));
}

}  // namespace

constexpr Architecture kMiniMaxM2 = {
    .model_type = "minimax_m2",
    .name = "minimax-m2",
    .defaults = R"({"rms_norm_eps": 1e-6, "max_position_embeddings": 196608,
                    "num_key_value_heads": 8, "head_dim": 128,
                    "num_local_experts": 256, "num_experts_per_tok": 8,
                    "rope_theta": 5e6, "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kAttentionRules, kNormRules, kHeadNormRules,
              kMiniMaxM2Rules},
    .describe = describe_minimax_m2,
};

}  // namespace rc::folder
