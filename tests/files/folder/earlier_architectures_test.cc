// Folders of models of 2021 to 2024, MiniCPM among them.
#include <cmath>
#include <cstring>

#include "files/folder/folder_util.h"
#include "tensor/half.h"

namespace rc::folder {
namespace {

using test::FolderTest;
using test::OneTensor;

TEST_F(FolderTest, UnsupportedOptionsOfEarlierArchitecturesAreRefused) {
  const struct {
    const char* folder;
    const char* patch;
    const char* message;
  } cases[] = {
      {"llama", R"({"model_type": "minicpm", "hidden_act": "relu"})",
       "'hidden_act' is 'relu'"},
      {"llama", R"({"model_type": "minicpm", "sparse_config": {}})",
       "'sparse_config' is not null"},
      {"llama", R"({"model_type": "minicpm",
                    "rope_scaling": {"rope_type": "ntk"}})",
       "'rope_type' is 'ntk'"},
      {"llama", R"({"model_type": "minicpm3", "attention_bias": true})",
       "'attention_bias' is true"},
      {"bert", R"({"position_embedding_type": "alibi"})",
       "'feed_forward_type' is 'original'"},
      {"bert", R"({"position_embedding_type": "alibi",
                   "feed_forward_type": "reglu"})",
       "'feed_forward_type' is 'reglu'"},
      {"bert", R"({"position_embedding_type": "alibi",
                   "feed_forward_type": "geglu"})",
       "models of type bert are computed without it"},
      {"llama", R"({"model_type": "dbrx", "attn_config": {},
                    "ffn_config": {"ffn_act_fn": {"name": "gelu"}}})",
       "'ffn_config'.'ffn_act_fn'.'name' is 'gelu'"},
      {"llama", R"({"model_type": "dbrx", "attn_config": {},
                    "ffn_config": {"moe_normalize_expert_weights": 2}})",
       "'moe_normalize_expert_weights' is 2"},
      {"llama", R"({"model_type": "gptj", "activation_function": "mish"})",
       "'activation_function' is 'mish'"},
      {"llama", R"({"model_type": "baichuan", "vocab_size": 125696})",
       "this is Baichuan 2"},
      {"llama", R"({"model_type": "qwen", "rotary_pct": 0.5})",
       "'rotary_pct' is 0.5"},
      {"llama", R"({"model_type": "codeshell",
                    "position_embedding_type": "learned"})",
       "'position_embedding_type' is 'learned'"},
      {"llama", R"({"model_type": "deepseek", "scoring_func": "sigmoid"})",
       "'scoring_func' is 'sigmoid'"},
      {"llama", R"({"model_type": "bailing_moe", "norm_head": true})",
       "'norm_head' is true"},
  };
  for (const auto& [folder, patch, message] : cases) {
    copy(folder);
    change("config.json", patch);
    expect_refused(RC_E_UNSUPPORTED, message);
  }
}

TEST_F(FolderTest, ScalesOfMiniCpmAreRead) {
  copy("llama");
  change("config.json",
         R"({"model_type": "minicpm", "scale_emb": 6, "scale_depth": 1.2,
             "dim_model_base": 16, "rope_scaling": null})");
  const auto file = open();
  EXPECT_EQ(file->get_float("minicpm.embedding_scale"), 6.0);
  EXPECT_NEAR(file->get_float("minicpm.residual_scale"), 1.2 / std::sqrt(2.0),
              1e-6);
  EXPECT_EQ(file->get_float("minicpm.logit_scale"), 2.0);
  change("config.json", R"({"scale_depth": null})");
  EXPECT_NEAR(open()->get_float("minicpm.residual_scale"), 1.0 / std::sqrt(2.0),
              1e-6);
  change("config.json", R"({"dim_model_base": 0})");
  expect_refused(RC_E_FORMAT, "'dim_model_base' is 0, but must be above 0");
}

// A context that may grow means nothing within the one that the folder says.
TEST_F(FolderTest, DynamicRopeScalingOfInternLmIsUnsupported) {
  copy("llama");
  change("config.json", R"({"model_type": "internlm2",
      "rope_scaling": {"rope_type": "dynamic", "factor": 2.0}})");
  expect_refused(RC_E_UNSUPPORTED, "models of type internlm2");
}

TEST_F(FolderTest, FirstFalconsUseLinearBiases) {
  copy("falcon");
  change("config.json", R"({"alibi": true})");
  auto file = open();
  EXPECT_EQ(file->get_float("falcon.attention.max_alibi_bias"), 8.0);
  EXPECT_EQ(file->find("falcon.rope.freq_base"), nullptr);
  EXPECT_EQ(file->find("falcon.use_parallel_residual"), nullptr);
  // One norm for both parts, which is that before attention where they follow
  // each other; then another one is missing.
  change("config.json",
         R"({"parallel_attn": false, "new_decoder_architecture": false,
             "multi_query": false})");
  EXPECT_THROW(open(), Error);
}

using Floats = std::vector<float>;

// Two groups of two heads of queries, one of keys and one of values, each of
// four elements, of which the first half rotates with the second.
TEST_F(OneTensor, FusedTensorOfInternLmIsSplit) {
  write_tensor("model.layers.0.attention.wqkv.weight", "F32", {32, 1});
  change("config.json", R"({"model_type": "internlm2", "head_dim": 4})");
  EXPECT_EQ(floats("blk.0.attn_q.weight"),
            (Floats{0, 2, 1, 3, 4, 6, 5, 7, 16, 18, 17, 19, 20, 22, 21, 23}));
  EXPECT_EQ(floats("blk.0.attn_k.weight"),
            (Floats{8, 10, 9, 11, 24, 26, 25, 27}));
  EXPECT_EQ(floats("blk.0.attn_v.weight"),
            (Floats{12, 13, 14, 15, 28, 29, 30, 31}));
  for (const char* patch :
       {R"({"num_key_value_heads": 3})", R"({"num_key_value_heads": 0})",
        R"({"num_attention_heads": 9223372036854775807})", R"({"head_dim": 5})",
        R"({"head_dim": 8})", R"({"head_dim": 9223372036854775807})"}) {
    change("config.json", R"({"num_key_value_heads": 2, "head_dim": 4,
                              "num_attention_heads": 4})");
    change("config.json", patch);
    EXPECT_THROW(open(), Error) << patch;
  }
}

// Queries, keys and values follow each other.
TEST_F(OneTensor, FusedTensorOfLingIsSplit) {
  write_tensor("model.layers.0.attention.query_key_value.weight", "F32",
               {32, 1});
  change("config.json", R"({"model_type": "bailing_moe", "head_dim": 4,
      "num_experts": 2, "num_experts_per_tok": 1,
      "moe_intermediate_size": 8})");
  EXPECT_EQ(floats("blk.0.attn_q.weight"),
            (Floats{0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15}));
  EXPECT_EQ(floats("blk.0.attn_k.weight"),
            (Floats{16, 18, 17, 19, 20, 22, 21, 23}));
  EXPECT_EQ(floats("blk.0.attn_v.weight"),
            (Floats{24, 25, 26, 27, 28, 29, 30, 31}));
  change("config.json", R"({"num_attention_heads": 9223372036854775807})");
  EXPECT_THROW(open(), Error);
}

TEST_F(OneTensor, FusedTensorOfBaichuanIsSplit) {
  write_tensor("model.layers.0.self_attn.W_pack.weight", "F32", {24, 1});
  const char* config = R"({"model_type": "baichuan", "hidden_size": 8,
      "num_attention_heads": 2, "rope_scaling": null})";
  change("config.json", config);
  EXPECT_EQ(floats("blk.0.attn_q.weight"), (Floats{0, 2, 1, 3, 4, 6, 5, 7}));
  EXPECT_EQ(floats("blk.0.attn_k.weight"),
            (Floats{8, 10, 9, 11, 12, 14, 13, 15}));
  EXPECT_EQ(floats("blk.0.attn_v.weight"),
            (Floats{16, 17, 18, 19, 20, 21, 22, 23}));
  for (const char* patch :
       {R"({"hidden_size": 10})", R"({"hidden_size": 0})",
        R"({"hidden_size": 9223372036854775807})", R"({"head_dim": 0})",
        R"({"head_dim": 3})", R"({"head_dim": 6})"}) {
    change("config.json", R"({"head_dim": null})");
    change("config.json", config);
    change("config.json", patch);
    EXPECT_THROW(open(), Error) << patch;
  }
}

TEST_F(OneTensor, ExpertsOfDbrxAreTransposed) {
  const char* config = R"({"model_type": "dbrx", "attn_config": {},
      "ffn_config": {"ffn_hidden_size": 2, "moe_num_experts": 2,
                     "moe_top_k": 1}})";
  write_tensor("transformer.blocks.0.ffn.experts.mlp.w2", "F32", {4, 3});
  change("config.json", config);
  EXPECT_EQ(open()->find_tensor("blk.0.ffn_down_exps.weight")->shape,
            (std::vector<int64_t>{2, 3, 2}));
  EXPECT_EQ(floats("blk.0.ffn_down_exps.weight"),
            (Floats{0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11}));
  write_tensor("transformer.blocks.0.ffn.experts.mlp.v1", "F32", {4, 3});
  change("config.json", config);
  EXPECT_EQ(open()->find_tensor("blk.0.ffn_up_exps.weight")->shape,
            (std::vector<int64_t>{2, 2, 3}));
  EXPECT_EQ(floats("blk.0.ffn_up_exps.weight"),
            (Floats{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  for (const char* experts : {"0", "3", "5000", "9223372036854775807"}) {
    change("config.json",
           cat(R"({"ffn_config": {"moe_num_experts": )", experts, "}}"));
    EXPECT_THROW(open(), Error) << experts;
  }
}

// The product of a weight and a factor is of the weight's type.
TEST_F(OneTensor, MultipliedTensorsKeepTheirType) {
  write_tensor("model.layers.0.feed_forward.gate_proj.weight", "BF16", {32, 2});
  change("config.json", R"({"model_type": "falcon_h1",
                            "mlp_multipliers": [1.1, 1.0]})");
  const auto file = open();
  const gguf::Tensor& tensor = *file->find_tensor("blk.0.ffn_gate.weight");
  ASSERT_EQ(tensor.dtype, RC_DTYPE_BF16);
  std::vector<uint16_t> actual(64);
  file->read(tensor, 0, std::as_writable_bytes(std::span(actual)));
  std::vector<uint16_t> expected;
  for (int i = 0; i < 64; ++i) {
    expected.push_back(f32_to_bf16(static_cast<float>(i) * 1.1f));
  }
  EXPECT_EQ(actual, expected);
  // From the middle of an element to that of another.
  std::vector<std::byte> part(7);
  file->read(tensor, 33, part);
  EXPECT_EQ(std::memcmp(part.data(),
                        reinterpret_cast<const char*>(expected.data()) + 33, 7),
            0);
}

}  // namespace
}  // namespace rc::folder
