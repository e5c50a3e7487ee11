// Files that say impossible things of inputs, keys, states, gates, streams and
// experts of layers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "model/damage_util.h"
#include "tensor/dtype.h"

namespace rc::test {
namespace {

class DamagedLayers : public ::testing::TestWithParam<Damage> {};

TEST_P(DamagedLayers, AreRefused) { expect_refused(GetParam()); }

const Damage kLayerDamages[] = {
    {"ALimitOfGatesForTooFewLayers",
     "step35",
     [](Patient& p) {
       p.set_array("step35.swiglu_clamp_exp", std::vector<float>{0.5f, 0.5f});
     },
     RC_E_FORMAT,
     {"step35.swiglu_clamp_exp", "an array of 2", "3 layers"}},
    {"ALimitOfGatesBelowTheirLeast",
     "step35",
     [](Patient& p) {
       p.set_array("step35.swiglu_clamp_shexp",
                   std::vector<float>{0.0f, 0.25f, 0.0f});
     },
     RC_E_FORMAT,
     {"step35.swiglu_clamp_shexp", "0.25 in layer 1", "0.3"}},
    {"HalfOfAnOddNumberOfPairs",
     "step35",
     [](Patient& p) { p.set<uint32_t>("step35.rope.dimension_count", 6); },
     RC_E_FORMAT,
     {"step35.rope.dimension_count", "is 6", "multiple of 4"}},
    {"NoPositionsThatAnIndexerChooses",
     "deepseek32",
     [](Patient& p) { p.drop("deepseek32.attention.indexer.top_k"); },
     RC_E_FORMAT,
     {"deepseek32.attention.indexer.top_k"}},
    {"LatentAttentionInNoLayer",
     "kimi-linear",
     [](Patient& p) {
       p.set_array("kimi-linear.attention.head_count_kv",
                   std::vector<int32_t>{0, 0, 0});
     },
     RC_E_FORMAT,
     {"kimi-linear.attention.head_count_kv", "above 0"}},
    {"HeadsOfTheColumnRuleOfAnotherSize",
     "kimi-linear",
     [](Patient& p) { p.set<uint32_t>("kimi-linear.kda.head_dim", 16); },
     RC_E_FORMAT,
     {"blk.0.ssm_conv1d_q.weight", "asks for"}},
    {"LightningInTooFewLayers",
     "minimax-01",
     [](Patient& p) {
       p.set_array("minimax-01.attention.recurrent_layers",
                   std::vector<int32_t>{1, 0});
     },
     RC_E_FORMAT,
     {"minimax-01.attention.recurrent_layers", "an array of 2", "3 layers"}},
    {"SharedKeysOfNoLayer",
     "gemma4",
     [](Patient& p) { p.set("gemma4.attention.shared_kv_layers", 4u); },
     RC_E_FORMAT,
     {"gemma4.attention.shared_kv_layers", "4", "no window", "layer 2"}},
    {"SharedKeysOfAllLayers",
     "gemma4",
     [](Patient& p) { p.set("gemma4.attention.shared_kv_layers", 6u); },
     RC_E_FORMAT,
     {"gemma4.attention.shared_kv_layers", "6", "0 to 5"}},
    {"HeadsOfWindowsOfAnotherSize",
     "gemma4",
     [](Patient& p) {
       p.set("gemma4.attention.key_length_swa", 16u);
       p.set("gemma4.attention.value_length_swa", 16u);
     },
     RC_E_FORMAT,
     {"blk.0.attn_q.weight", "[48, 32]", "[64, 32]"}},
    {"ValuesOfWindowsOfAnotherSize",
     "gemma4",
     [](Patient& p) { p.set("gemma4.attention.value_length_swa", 16u); },
     RC_E_UNSUPPORTED,
     {"gemma4.attention.value_length_swa", "16", "12"}},
    {"InputsOfLayersOfAnotherSize",
     "gemma4",
     [](Patient& p) { p.set("gemma4.embedding_length_per_layer_input", 8u); },
     RC_E_FORMAT,
     {"per_layer_token_embd.weight", "[272, 96]", "[272, 48]"}},
    {"InputsOfLayersWithoutATable",
     "gemma3n",
     [](Patient& p) { p.drop_tensor("per_layer_token_embd.weight"); },
     RC_E_FORMAT,
     {"per_layer_token_embd.weight", "missing"}},
    {"InputsOfLayersThatAreNoBlocks",
     "gemma4",
     [](Patient& p) {
       Patient::Tensor& table = p.tensor("per_layer_token_embd.weight");
       table.dtype = RC_DTYPE_Q8_0;
       table.data.assign(272 * 3 * 34, std::byte{});
     },
     RC_E_UNSUPPORTED,
     {"per_layer_token_embd.weight", "Q8_0", "rows of 16", "block of 32"}},
    {"FactorOfALayerWithoutAValue",
     "gemma4",
     [](Patient& p) {
       std::fill_n(p.tensor("blk.1.layer_output_scale.weight").data.begin(), 4,
                   std::byte{0xFF});
     },
     RC_E_FORMAT,
     {"blk.1.layer_output_scale.weight", "nan"}},
    {"FactorsOfFewerExperts",
     "gemma4-moe",
     [](Patient& p) {
       Patient::Tensor& scales = p.tensor("blk.0.ffn_down_exps.scale");
       scales.shape = {5};
       scales.data.resize(5 * sizeof(float));
     },
     RC_E_FORMAT,
     {"blk.0.ffn_down_exps.scale", "[5]", "[6]"}},
    {"HalvesOfExpertsOfAnotherSize",
     "gemma4-moe",
     [](Patient& p) {
       p.tensor("blk.0.ffn_gate_up_exps.weight").shape = {6, 32, 64};
     },
     RC_E_FORMAT,
     {"blk.0.ffn_gate_up_exps.weight", "[6, 32, 64]", "[6, 64, 32]"}},
    {"MoreStreams",
     "gemma3n",
     [](Patient& p) { p.set("gemma3n.altup.num_inputs", 5u); },
     RC_E_FORMAT,
     {"altup_proj.weight", "[3, 32, 32]", "[4, 32, 32]"}},
    {"ComputedStreamThatIsNone",
     "gemma3n",
     [](Patient& p) { p.set("gemma3n.altup.active_idx", 4u); },
     RC_E_FORMAT,
     {"gemma3n.altup.active_idx", "4", "0 to 3"}},
    {"CutOffsOfFewerLayers",
     "gemma3n",
     [](Patient& p) {
       p.set_array<float>("gemma3n.activation_sparsity_scale", {0.5f, 1.0f});
     },
     RC_E_FORMAT,
     {"gemma3n.activation_sparsity_scale", "2", "5 layers"}},
    {"CutOffNotANumber",
     "gemma3n",
     [](Patient& p) {
       p.set_array<float>("gemma3n.activation_sparsity_scale",
                          {0.5f, 1.0f, 1.0f, std::nanf(""), 0.0f});
     },
     RC_E_FORMAT,
     {"gemma3n.activation_sparsity_scale", "nan", "layer 3"}},
};

INSTANTIATE_TEST_SUITE_P(Files, DamagedLayers,
                         ::testing::ValuesIn(kLayerDamages),
                         [](const ::testing::TestParamInfo<Damage>& info) {
                           return info.param.name;
                         });

}  // namespace
}  // namespace rc::test
