// Sarvam: the experts of GLM 4.5, under the names of Ling 2.0.
#include <numeric>
#include <span>

#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

// The bias that experts are chosen with, without its mean, which changes
// nothing of what is chosen.
TensorView without_mean(const Config& config,
                        const safetensors::Place& source) {
  const TensorView view = as_it_is(config, source);
  if (view.shape.size() != 1 ||
      view.shape[0] > static_cast<int64_t>(kMaxExperts)) {
    refuse_shape(source,
                 cat("a number for each of at most ", kMaxExperts, " experts"));
  }
  std::vector<float> values(static_cast<size_t>(view.shape[0]));
  view.read(0, std::as_writable_bytes(std::span(values)));
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) /
                      static_cast<double>(values.size());
  for (float& value : values) {
    value = static_cast<float>(static_cast<double>(value) - mean);
  }
  TensorView result;
  result.shape = view.shape;
  result.made = std::move(values);
  return result;
}

constexpr Rule kSarvamRules[] = {
    {"model.word_embeddings.weight", "token_embd.weight"},
    {"model.layers.*.attention.query_key_value.weight",
     "blk.*.attn_qkv.weight"},
    {"model.layers.*.attention.query_layernorm.weight",
     "blk.*.attn_q_norm.weight"},
    {"model.layers.*.attention.key_layernorm.weight",
     "blk.*.attn_k_norm.weight"},
    {"model.layers.*.attention.dense.weight", "blk.*.attn_output.weight"},
    {"model.layers.*.mlp.gate.expert_bias", "blk.*.exp_probs_b.bias",
     without_mean},
};

void describe_sarvam(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_text(config, "score_function", {"sigmoid"});
  for (const char* key : {"attention_bias", "use_bias"}) {
    expect_flag(config, key, false);
  }
  for (const char* key : {"use_qk_norm", "moe_router_enable_expert_bias"}) {
    expect_flag(config, key, true);
  }
  add_decoder(model, {.rotated_part = "partial_rotary_factor"});
  add_selected_experts(model);
}

}  // namespace

constexpr Architecture kSarvamMoe = {
    .model_type = "sarvam_moe",
    .name = "bailingmoe2",
    .defaults = R"({"rms_norm_eps": 1e-6, "max_position_embeddings": 131072,
                    "num_key_value_heads": 4, "head_dim": 64,
                    "rope_theta": 8e6, "moe_intermediate_size": 1024,
                    "num_experts_per_tok": 6, "n_shared_experts": 1,
                    "n_routed_experts": 128, "routed_scaling_factor": 2.5,
                    "first_k_dense_replace": 1, "norm_topk_prob": true,
                    "tie_word_embeddings": false})",
    .aliases = {{"num_experts", "n_routed_experts"},
                {"num_shared_experts", "n_shared_experts"},
                {"use_qkv_bias", "attention_bias"}},
    .rules = {kDecoderRules, kNormRules, kExpertRules, kSelectedExpertRules,
              kSarvamRules},
    .describe = describe_sarvam,
};

}  // namespace rc::folder
