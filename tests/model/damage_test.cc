// Files whose models cannot be: each is refused with a message that names what
// is wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "model/damage_util.h"
#include "tensor/dtype.h"

namespace rc::test {
namespace {

class Damaged : public ::testing::TestWithParam<Damage> {};

TEST_P(Damaged, IsRefused) { expect_refused(GetParam()); }

const Damage kDamages[] = {
    {"UnknownArchitecture",
     "llama2",
     [](Patient& p) { p.set("general.architecture", std::string("lhama\n")); },
     RC_E_UNSUPPORTED,
     {"'lhama\\x0a'", "docs/models.md",
      "those of baichuan, ernie4_5, granite, internlm2, orion, qwen2"}},
    {"MissingKey",
     "llama2",
     [](Patient& p) { p.drop("llama.block_count"); },
     RC_E_FORMAT,
     {"llama.block_count"}},
    {"MissingTensor",
     "llama2",
     [](Patient& p) { p.drop_tensor("blk.1.attn_k.weight"); },
     RC_E_FORMAT,
     {"blk.1.attn_k.weight", "[32, 64]", "missing"}},
    {"MissingEmbedding",
     "llama2",
     [](Patient& p) { p.drop_tensor("token_embd.weight"); },
     RC_E_FORMAT,
     {"token_embd.weight", "missing"}},
    {"MissingBias",
     "qwen2",
     [](Patient& p) { p.drop_tensor("blk.0.attn_v.bias"); },
     RC_E_FORMAT,
     {"blk.0.attn_v.bias", "missing"}},
    {"TurnedMatrix",
     "llama2",
     [](Patient& p) {
       p.tensor("blk.0.ffn_up.weight").shape = {64, 96};
     },
     RC_E_FORMAT,
     {"blk.0.ffn_up.weight", "[64, 96]", "[96, 64]"}},
    {"MoreLayersThanTensors",
     "llama2",
     [](Patient& p) { p.set<uint32_t>("llama.block_count", 3); },
     RC_E_FORMAT,
     {"blk.2.attn_norm.weight"}},
    {"QuantizedNorm",
     "llama2",
     [](Patient& p) {
       Patient::Tensor& norm = p.tensor("blk.0.attn_norm.weight");
       norm.dtype = RC_DTYPE_Q8_0;
       norm.data.resize(68);
     },
     RC_E_FORMAT,
     {"blk.0.attn_norm.weight", "Q8_0"}},
    {"NoHeads",
     "llama2",
     [](Patient& p) { p.set<uint32_t>("llama.attention.head_count", 0); },
     RC_E_FORMAT,
     {"llama.attention.head_count", "is 0"}},
    {"NoKeyHeads",
     "llama2",
     [](Patient& p) { p.set<uint32_t>("llama.attention.head_count_kv", 0); },
     RC_E_FORMAT,
     {"llama.attention.head_count_kv", "is 0"}},
    {"KeyHeadsThatDoNotDivide",
     "llama2",
     [](Patient& p) { p.set<uint32_t>("llama.attention.head_count_kv", 3); },
     RC_E_FORMAT,
     {"llama.attention.head_count_kv", "is 3", "4 heads"}},
    {"HeadsThatDoNotDivide",
     "llama2",
     [](Patient& p) { p.set<uint32_t>("llama.attention.head_count", 6); },
     RC_E_FORMAT,
     {"llama.attention.head_count", "is 6", "64"}},
    {"NoLayers",
     "llama2",
     [](Patient& p) { p.set<uint32_t>("llama.block_count", 0); },
     RC_E_FORMAT,
     {"llama.block_count", "is 0"}},
    {"AbsurdContext",
     "llama2",
     [](Patient& p) { p.set<uint32_t>("llama.context_length", 0xFFFFFFFF); },
     RC_E_FORMAT,
     {"llama.context_length", "4294967295", "1073741824"}},
    {"AbsurdWidth",
     "llama2",
     [](Patient& p) { p.set<uint32_t>("llama.embedding_length", 0x80000000); },
     RC_E_FORMAT,
     {"llama.embedding_length", "2147483648"}},
    {"EpsilonNotANumber",
     "llama2",
     [](Patient& p) {
       p.set("llama.attention.layer_norm_rms_epsilon",
             std::numeric_limits<float>::quiet_NaN());
     },
     RC_E_FORMAT,
     {"llama.attention.layer_norm_rms_epsilon", "nan"}},
    {"EpsilonZero",
     "llama2",
     [](Patient& p) { p.set("llama.attention.layer_norm_rms_epsilon", 0.0f); },
     RC_E_FORMAT,
     {"llama.attention.layer_norm_rms_epsilon"}},
    {"RopeBaseZero",
     "llama2",
     [](Patient& p) { p.set("llama.rope.freq_base", 0.0f); },
     RC_E_FORMAT,
     {"llama.rope.freq_base"}},
    {"OddRotaryDimensions",
     "llama2",
     [](Patient& p) { p.set<uint32_t>("llama.rope.dimension_count", 7); },
     RC_E_FORMAT,
     {"llama.rope.dimension_count", "is 7", "even"}},
    {"RotaryBeyondHead",
     "llama2",
     [](Patient& p) { p.set<uint32_t>("llama.rope.dimension_count", 18); },
     RC_E_FORMAT,
     {"llama.rope.dimension_count", "is 18", "16"}},
    {"VocabularyOfAnotherSize",
     "llama2",
     [](Patient& p) { p.set<uint32_t>("llama.vocab_size", 271); },
     RC_E_FORMAT,
     {"llama.vocab_size", "271", "272"}},
    {"UnknownScaling",
     "llama-yarn",
     [](Patient& p) { p.set("llama.rope.scaling.type", std::string("warp")); },
     RC_E_UNSUPPORTED,
     {"llama.rope.scaling.type", "warp", "yarn"}},
    {"InfiniteScaling",
     "llama-yarn",
     [](Patient& p) {
       p.set("llama.rope.scaling.factor",
             std::numeric_limits<float>::infinity());
     },
     RC_E_FORMAT,
     {"llama.rope.scaling.factor", "inf"}},
    {"ShortRotaryFactors",
     "llama3",
     [](Patient& p) {
       Patient::Tensor& factors = p.tensor("rope_freqs.weight");
       factors.shape = {31};
       factors.data.resize(31 * sizeof(float));
     },
     RC_E_FORMAT,
     {"rope_freqs.weight", "[32]"}},
    {"ValuesOfAnotherSize",
     "gemma2",
     [](Patient& p) { p.set<uint32_t>("gemma2.attention.value_length", 8); },
     RC_E_UNSUPPORTED,
     {"gemma2.attention.value_length", "is 8", "16"}},
    {"NegativeSoftcap",
     "gemma2",
     [](Patient& p) { p.set("gemma2.attn_logit_softcapping", -1.0f); },
     RC_E_FORMAT,
     {"gemma2.attn_logit_softcapping", "-1"}},
    {"MoreExpertsUsedThanThere",
     "mixtral",
     [](Patient& p) { p.set<uint32_t>("llama.expert_used_count", 5); },
     RC_E_FORMAT,
     {"llama.expert_used_count", "is 5", "4"}},
    {"UnknownScoresOfExperts",
     "glm4moe",
     [](Patient& p) { p.set<uint32_t>("glm4moe.expert_gating_func", 3); },
     RC_E_FORMAT,
     {"glm4moe.expert_gating_func", "is 3", "2"}},
    {"SharedExpertsOfAnEndlessSize",
     "glm4moe",
     [](Patient& p) {
       p.set<uint32_t>("glm4moe.expert_shared_count", 4096);
       p.set<uint32_t>("glm4moe.expert_feed_forward_length", 1 << 20);
     },
     RC_E_FORMAT,
     {"glm4moe.expert_shared_count", "4096", "larger"}},
    {"OnlyLayersThatGuess",
     "glm4moe",
     [](Patient& p) { p.set<uint32_t>("glm4moe.nextn_predict_layers", 3); },
     RC_E_FORMAT,
     {"glm4moe.nextn_predict_layers", "is 3", "2"}},
    {"SelectionBiasOfAnotherSize",
     "glm4moe",
     [](Patient& p) {
       Patient::Tensor& bias = p.tensor("blk.1.exp_probs_b.bias");
       bias.shape = {5};
       bias.data.resize(5 * sizeof(float));
     },
     RC_E_FORMAT,
     {"blk.1.exp_probs_b.bias"}},
    {"FusedAttentionOfAnotherSize",
     "phi3",
     [](Patient& p) {
       Patient::Tensor& fused = p.tensor("blk.0.attn_qkv.weight");
       fused.shape[0] -= 1;
       fused.data.resize(fused.data.size() - 32 * sizeof(float));
     },
     RC_E_FORMAT,
     {"blk.0.attn_qkv.weight"}},
    {"NoExperts",
     "qwen3moe",
     [](Patient& p) { p.set<uint32_t>("qwen3moe.expert_count", 0); },
     RC_E_FORMAT,
     {"qwen3moe.expert_count"}},
    {"SinksOfAnotherSize",
     "gpt-oss",
     [](Patient& p) {
       Patient::Tensor& sinks = p.tensor("blk.1.attn_sinks.weight");
       sinks.shape = {3};
       sinks.data.resize(3 * sizeof(float));
     },
     RC_E_FORMAT,
     {"blk.1.attn_sinks.weight", "[3]", "[4]"}},
    {"RotatedPartAsLongAsKeys",
     "deepseek2",
     [](Patient& p) {
       p.set<uint32_t>("deepseek2.attention.key_length_mla", 8);
     },
     RC_E_FORMAT,
     {"deepseek2.rope.dimension_count", "below the 8"}},
    {"GroupsThatDoNotDivideTheExperts",
     "deepseek2",
     [](Patient& p) { p.set<uint32_t>("deepseek2.expert_group_count", 3); },
     RC_E_FORMAT,
     {"deepseek2.expert_group_count", "divide the 8 experts"}},
    {"TooFewExpertsInGroups",
     "deepseek2",
     [](Patient& p) {
       p.set<uint32_t>("deepseek2.expert_group_count", 8);
       p.set<uint32_t>("deepseek2.expert_group_used_count", 1);
     },
     RC_E_FORMAT,
     {"deepseek2.expert_group_used_count", "1 experts"}},
    {"KeysAndValuesOfAnotherSize",
     "deepseek2-old",
     [](Patient& p) {
       p.set<uint32_t>("deepseek2.attention.value_length", 12);
     },
     RC_E_FORMAT,
     {"blk.0.attn_kv_b.weight", "[96, 16]"}},
    {"NoSlopes",
     "mpt",
     [](Patient& p) { p.drop("mpt.attention.max_alibi_bias"); },
     RC_E_UNSUPPORTED,
     {"mpt.attention.max_alibi_bias", "0 or missing"}},
    {"TwoWeightedExperts",
     "llama4",
     [](Patient& p) { p.set<uint32_t>("llama4.expert_used_count", 2); },
     RC_E_UNSUPPORTED,
     {"llama4.expert_used_count", "only be computed with 1"}},
    {"SizesOfTooFewLayers",
     "llama-layers",
     [](Patient& p) {
       p.set_array("llama.attention.head_count", std::vector<int32_t>{4, 3});
     },
     RC_E_FORMAT,
     {"llama.attention.head_count", "array of 2", "3 layers"}},
    {"SizeOfALayerOutOfRange",
     "llama-layers",
     [](Patient& p) {
       p.set_array("llama.feed_forward_length",
                   std::vector<int32_t>{64, -1, 72});
     },
     RC_E_FORMAT,
     {"llama.feed_forward_length", "-1 in layer 1"}},
    {"HeadsOfALayerThatCannotBeGrouped",
     "llama-layers",
     [](Patient& p) {
       p.set_array("llama.attention.head_count_kv",
                   std::vector<int32_t>{2, 3, 4});
     },
     RC_E_FORMAT,
     {"llama.attention.head_count_kv", "is 4", "6 heads"}},
    {"HeadsOfDifferentLayersWithoutTheirSize",
     "llama-layers",
     [](Patient& p) { p.drop("llama.attention.key_length"); },
     RC_E_FORMAT,
     {"llama.attention.head_count", "is 3", "llama.attention.key_length"}},
    {"StateSpaceOfUnevenHeads",
     "granitehybrid",
     [](Patient& p) { p.set<uint32_t>("granitehybrid.ssm.inner_size", 130); },
     RC_E_FORMAT,
     {"granitehybrid.ssm.inner_size", "130", "8 heads"}},
    {"StateSpaceOfUnevenGroups",
     "granitehybrid",
     [](Patient& p) { p.set<uint32_t>("granitehybrid.ssm.group_count", 3); },
     RC_E_FORMAT,
     {"granitehybrid.ssm.group_count", "is 3", "8 heads"}},
    {"FeedForwardBesideAttention",
     "nemotron_h",
     [](Patient& p) {
       p.set_array("nemotron_h.feed_forward_length",
                   std::vector<int32_t>{0, 48, 48, 0, 48});
     },
     RC_E_FORMAT,
     {"nemotron_h.feed_forward_length", "is 48", "layer 2"}},
    {"ShortConvolutionOfOneRow",
     "lfm2",
     [](Patient& p) { p.set<uint32_t>("lfm2.shortconv.l_cache", 1); },
     RC_E_FORMAT,
     {"lfm2.shortconv.l_cache", "is 1"}},
    {"ChannelsOfAnotherRank",
     "jamba",
     [](Patient& p) { p.set<uint32_t>("jamba.ssm.time_step_rank", 5); },
     RC_E_FORMAT,
     {"blk.0.ssm_x.weight", "asks for"}},
    {"NormsWithoutWeightsOfChannels",
     "falcon-mamba",
     [](Patient& p) { p.set("mamba.ssm.dt_b_c_rms_epsilon", 0.0f); },
     RC_E_FORMAT,
     {"mamba.ssm.dt_b_c_rms_epsilon", "is 0"}},
    {"AttentionInAllLayers",
     "qwen3next",
     [](Patient& p) {
       p.set<uint32_t>("qwen3next.full_attention_interval", 1);
     },
     RC_E_FORMAT,
     {"blk.0.attn_q.weight", "missing"}},
    {"ConvolutionOfOneRow",
     "granitehybrid",
     [](Patient& p) { p.set<uint32_t>("granitehybrid.ssm.conv_kernel", 1); },
     RC_E_FORMAT,
     {"granitehybrid.ssm.conv_kernel", "is 1"}},
    {"StateSpaceOfAnotherSize",
     "granitehybrid",
     [](Patient& p) { p.set<uint32_t>("granitehybrid.ssm.state_size", 8); },
     RC_E_FORMAT,
     {"blk.0.ssm_in.weight", "asks for"}},
    {"StateSpaceWithoutDecay",
     "granitehybrid",
     [](Patient& p) { p.drop_tensor("blk.2.ssm_a"); },
     RC_E_FORMAT,
     {"blk.2.ssm_a", "missing"}},
    {"ScaleOfNothing",
     "granite",
     [](Patient& p) { p.set("granite.embedding_scale", -1.0f); },
     RC_E_FORMAT,
     {"granite.embedding_scale", "-1"}},
    {"LocalRotaryBase",
     "gemma3",
     [](Patient& p) { p.set("gemma3.rope.freq_base_swa", 0.5f); },
     RC_E_FORMAT,
     {"gemma3.rope.freq_base_swa", "0.5"}},
    {"ExpertsWithoutBiases",
     "gpt-oss",
     [](Patient& p) { p.drop_tensor("blk.1.ffn_up_exps.bias"); },
     RC_E_FORMAT,
     {"blk.1.ffn_up_exps.bias", "[5, 32]", "missing"}},
    {"FewerPositionsThanTheContext",
     "bert",
     [](Patient& p) { p.set<uint32_t>("bert.context_length", 65); },
     RC_E_FORMAT,
     {"position_embd.weight", "[64, 64]", "[65, 64]"}},
    {"TypesOfTokensOfAnotherWidth",
     "bert",
     [](Patient& p) {
       p.tensor("token_types.weight").shape = {4, 32};
     },
     RC_E_FORMAT,
     {"token_types.weight", "[4, 32]", "[4, 64]"}},
    {"NormWithoutABias",
     "bert",
     [](Patient& p) { p.drop_tensor("blk.1.layer_output_norm.bias"); },
     RC_E_FORMAT,
     {"blk.1.layer_output_norm.bias", "[64]", "missing"}},
    {"NormWithoutEpsilon",
     "bert",
     [](Patient& p) { p.drop("bert.attention.layer_norm_epsilon"); },
     RC_E_FORMAT,
     {"bert.attention.layer_norm_epsilon"}},
    {"PoolingOfAnUnknownKind",
     "bert",
     [](Patient& p) { p.set<uint32_t>("bert.pooling_type", 9); },
     RC_E_FORMAT,
     {"bert.pooling_type", "9", "4"}},
    {"OnlyFactorsOfLongSequences",
     "phi3-long",
     [](Patient& p) { p.drop_tensor("rope_factors_short.weight"); },
     RC_E_FORMAT,
     {"only one", "rope_factors_short.weight", "rope_factors_long.weight"}},
    {"NormsOfHeadsForFewerHeads",
     "command-r-plus",
     [](Patient& p) {
       p.tensor("blk.0.attn_q_norm.weight").shape = {2, 16};
     },
     RC_E_FORMAT,
     {"blk.0.attn_q_norm.weight", "[2, 16]", "[4, 8]"}},
    {"FunctionWithoutParameters",
     "apertus",
     [](Patient& p) { p.drop("xielu.alpha_n"); },
     RC_E_FORMAT,
     {"xielu.alpha_n"}},
    {"ParametersOfMoreLayers",
     "apertus",
     [](Patient& p) { p.set("apertus.block_count", uint32_t{1}); },
     RC_E_FORMAT,
     {"xielu.alpha_p", "2", "1 layers"}},
    {"RotaryFactorsNotANumber",
     "llama3",
     [](Patient& p) {
       std::fill_n(p.tensor("rope_freqs.weight").data.begin(), 4,
                   std::byte{0xFF});
     },
     RC_E_FORMAT,
     {"rope_freqs.weight", "nan"}},
    {"ExpertsApart",
     "mixtral",
     [](Patient& p) {
       Patient::Tensor expert = p.tensor("blk.0.ffn_gate_exps.weight");
       p.drop_tensor(expert.name);
       expert.name = "blk.0.ffn_gate.0.weight";
       expert.shape = {32, 48};
       expert.data.resize(32 * 48 * sizeof(float));
       p.add_tensor(expert);
     },
     RC_E_UNSUPPORTED,
     {"blk.0.ffn_gate.0.weight", "convert"}},
    {"KeyOfAnotherType",
     "llama2",
     [](Patient& p) { p.set("llama.block_count", std::string("two")); },
     RC_E_FORMAT,
     {"llama.block_count"}},
    {"TooManyTokens",
     "llama2",
     [](Patient& p) {
       p.drop("llama.vocab_size");
       for (const char* name : {"token_embd.weight", "output.weight"}) {
         Patient::Tensor& table = p.tensor(name);
         table.shape = {271, 64};
         table.data.resize(271 * 64 * sizeof(float));
       }
     },
     RC_E_FORMAT,
     {"272 tokens", "271 rows", "token_embd.weight"}},
};

INSTANTIATE_TEST_SUITE_P(Files, Damaged, ::testing::ValuesIn(kDamages),
                         [](const auto& info) {
                           return std::string(info.param.name);
                         });

}  // namespace
}  // namespace rc::test
