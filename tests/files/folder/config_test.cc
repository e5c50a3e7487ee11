// Accepted and refused values of config.json.
#include <cmath>

#include "files/folder/folder_util.h"

namespace rc::folder {
namespace {

using test::FolderTest;

TEST_F(FolderTest, UnknownModelTypesAreNamed) {
  copy("qwen2");
  change("config.json", R"({"model_type": "mystery"})");
  expect_refused(RC_E_UNSUPPORTED,
                 "config.json: 'model_type' is 'mystery', which is not known; "
                 "docs/models.md lists those that are");
  change("config.json", R"({"model_type": null})");
  expect_refused(RC_E_FORMAT, "config.json: 'model_type' is missing");
  change("config.json", R"({"model_type": 5})");
  expect_refused(RC_E_FORMAT, "'model_type' is a number, not a string");
}

TEST_F(FolderTest, QuantizedFoldersAreRefused) {
  copy("qwen2");
  change("config.json", R"({"quantization_config": {"quant_method": "hqq"}})");
  expect_refused(RC_E_UNSUPPORTED, "'quant_method' is 'hqq'; known are fp8");
}

// Python writes such where JSON has nothing.
TEST_F(FolderTest, InfinityAndNanAreReadAsNull) {
  copy("qwen2");
  std::ifstream file(path("config.json"));
  std::string text(std::istreambuf_iterator<char>(file), {});
  const size_t end = text.rfind('}');
  text.insert(end, R"(, "a": [Infinity, -Infinity, NaN], "b": "\"Infinity")");
  write("config.json", text);
  EXPECT_NO_THROW(open());
  text.insert(text.rfind('}'), R"(, "rope_theta": Infinity)");
  write("config.json", text);
  expect_refused(RC_E_FORMAT, "config.json: ");
  write("config.json", R"({"model_type": Infinity})");
  expect_refused(RC_E_FORMAT, "'model_type' is missing");
  write("config.json", R"({"model_type": Infinit})");
  expect_refused(RC_E_FORMAT, "config.json: not JSON");
}

TEST_F(FolderTest, UnsupportedOptionsAreRefused) {
  const struct {
    const char* folder;
    const char* patch;
    const char* message;
  } cases[] = {
      {"llama", R"({"hidden_act": "relu"})", "'hidden_act' is 'relu'"},
      {"llama", R"({"partial_rotary_factor": 0.5})",
       "'partial_rotary_factor' is 0.5"},
      {"llama", R"({"rope_scaling": {"rope_type": "ntk", "factor": 2}})",
       "'rope_scaling'.'rope_type' is 'ntk'; known are default, linear, "
       "llama3, yarn"},
      {"llama", R"({"rope_scaling": {"type": "su", "rope_type": null}})",
       "'rope_scaling'.'rope_type' is 'su'"},
      {"llama", R"({"rope_scaling": {"rope_type": "yarn", "truncate": false}})",
       "'rope_scaling'.'truncate' is false"},
      {"qwen2", R"({"layer_types": ["full_attention", "sliding_attention"]})",
       "'layer_types' holds 'sliding_attention'"},
      {"qwen2", R"({"layer_types": null, "use_sliding_window": true,
                    "max_window_layers": 1})",
       "'use_sliding_window' is true"},
      {"gemma3", R"({"query_pre_attn_scalar": 99})", "gemma3.attention.scale"},
      {"gemma3", R"({"hidden_activation": "gelu"})",
       "'hidden_activation' is 'gelu'"},
      {"gemma3", R"({"layer_types": ["full_attention", "chunked", "x"]})",
       "'layer_types' holds 'chunked'"},
      {"gpt_oss", R"({"swiglu_limit": 5.0})", "'swiglu_limit' is 5"},
      {"granitemoehybrid", R"({"layer_types": ["mamba", "attn"]})",
       "'layer_types' holds 'attn'"},
      {"bert", R"({"position_embedding_type": "relative_key"})",
       "'position_embedding_type' is 'relative_key'"},
      {"bert", R"({"is_decoder": true})", "'is_decoder' is true"},
  };
  for (const auto& [folder, patch, message] : cases) {
    copy(folder);
    change("config.json", patch);
    expect_refused(RC_E_UNSUPPORTED, message);
  }
}

TEST_F(FolderTest, InvalidNumbersAreRefused) {
  const struct {
    const char* patch;
    const char* message;
  } cases[] = {
      {R"({"hidden_size": "32"})", "'hidden_size' is a string, not an integer"},
      {R"({"hidden_size": 32.5})", "'hidden_size' is '32.5', not an integer"},
      {R"({"hidden_size": null})", "'hidden_size' is missing"},
      {R"({"hidden_size": 18446744073709551615})", "not an integer below 2^63"},
      {R"({"hidden_size": 9223372036854775807})",
       "llama.embedding_length would be 9223372036854775807"},
      {R"({"hidden_size": 0})", "llama.embedding_length is 0"},
      {R"({"hidden_size": 34, "head_dim": null})",
       "'num_attention_heads' is 4, which does not divide hidden_size, 34"},
      {R"({"num_attention_heads": 0, "head_dim": null})",
       "'num_attention_heads' is 0"},
      {R"({"num_attention_heads": 0})", "for each of 0 heads"},
      {R"({"num_attention_heads": -4})",
       "llama.attention.head_count would be -4"},
      {R"({"num_hidden_layers": 1000000})", "'num_hidden_layers' is 1000000"},
      {R"({"num_hidden_layers": -1})", "'num_hidden_layers' is -1"},
      {R"({"head_dim": -8})", "llama.attention.key_length would be -8"},
      {R"({"max_position_embeddings": 4294967296})",
       "llama.context_length would be 4294967296"},
      {R"({"rms_norm_eps": "x"})", "'rms_norm_eps' is a string, not a number"},
      {R"({"rms_norm_eps": -1})", "llama.attention.layer_norm_rms_epsilon"},
      {R"({"rope_theta": 0})", "'rope_theta' is 0"},
      {R"({"rope_scaling": []})", "'rope_scaling' is an array, not an object"},
      {R"({"rope_scaling": {"factor": 0}})", "'rope_scaling'.'factor' is 0"},
      {R"({"rope_scaling": {"low_freq_factor": 9}})",
       "'rope_scaling'.'high_freq_factor' is 4"},
      {R"({"rope_scaling": {"original_max_position_embeddings": -1}})",
       "'original_max_position_embeddings' is -1"},
      {R"({"rope_scaling": {"factor": null}})",
       "'rope_scaling'.'factor' is missing"},
      {R"({"head_dim": 1000000})", "'head_dim' is 1000000"},
      {R"({"eos_token_id": -2})", "'eos_token_id' is -2"},
      {R"({"eos_token_id": "</s>"})", "'eos_token_id' is a string"},
      {R"({"eos_token_id": [2, "x"]})", "'eos_token_id' is a string"},
  };
  for (const auto& [patch, message] : cases) {
    copy("llama");
    std::filesystem::remove(path("generation_config.json"));
    change("config.json", patch);
    expect_refused(RC_E_FORMAT, message);
  }
}

// Newer folders say all of rotation in one object.
TEST_F(FolderTest, RopeParametersEqualOlderKeys) {
  copy("llama");
  const auto before = open();
  change("config.json",
         R"({"rope_theta": null, "rope_scaling": null, "rope_parameters":
             {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0,
              "low_freq_factor": 1.0, "high_freq_factor": 4.0,
              "original_max_position_embeddings": 64}})");
  const auto after = open();
  EXPECT_EQ(after->get_float("llama.rope.freq_base"), 500000.0);
  EXPECT_EQ(after->read(*after->find_tensor("rope_freqs.weight")),
            before->read(*before->find_tensor("rope_freqs.weight")));
  copy("gemma3");
  change("config.json",
         R"({"rope_theta": null, "rope_scaling": null,
             "rope_local_base_freq": null, "rope_parameters":
             {"full_attention": {"rope_type": "linear", "rope_theta": 1e6,
                                 "factor": 4.0},
              "sliding_attention": {"rope_type": "default",
                                    "rope_theta": 1e4}}})");
  const auto gemma = open();
  EXPECT_EQ(gemma->get_float("gemma3.rope.freq_base"), 1e6);
  EXPECT_EQ(gemma->get_float("gemma3.rope.freq_base_swa"), 1e4);
  EXPECT_EQ(gemma->get_string("gemma3.rope.scaling.type"), "linear");
  EXPECT_EQ(gemma->get_float("gemma3.rope.scaling.factor"), 4.0);
}

// The key's value is multiplied by 0.1 ln(factor) + 1.
TEST_F(FolderTest, YarnScalesAttentionAsTransformersDoes) {
  copy("gpt_oss");
  const double usual = 0.1 * std::log(8.0) + 1.0;
  const auto factor = [&](const char* patch) {
    change("config.json", cat(R"({"rope_scaling": )", patch, "}"));
    return open()->find_float("gpt-oss.rope.scaling.attn_factor").value_or(1.0);
  };
  EXPECT_EQ(factor("{}"), 1.0);
  EXPECT_NEAR(factor(R"({"attention_factor": 1.5})"), 1.5 / usual, 1e-7);
  EXPECT_NEAR(
      factor(R"({"attention_factor": null, "mscale": 2.0,
                         "mscale_all_dim": 0.5})"),
      (0.2 * std::log(8.0) + 1.0) / (0.05 * std::log(8.0) + 1.0) / usual, 1e-7);
}

TEST_F(FolderTest, PoolingIsReadFromSentenceTransformers) {
  copy("bert");
  EXPECT_FALSE(open()->find_int("bert.pooling_type"));
  std::filesystem::create_directory(path("1_Pooling"));
  const auto pooling = [&](const char* json) {
    write("1_Pooling/config.json", json);
    return open()->find_int("bert.pooling_type").value_or(0);
  };
  EXPECT_EQ(pooling(R"({"pooling_mode_cls_token": false,
                        "pooling_mode_mean_tokens": true})"),
            1);
  EXPECT_EQ(pooling(R"({"pooling_mode_cls_token": true})"), 2);
  EXPECT_EQ(pooling("{}"), 0);
  write("1_Pooling/config.json", "[");
  expect_refused(RC_E_FORMAT, "1_Pooling/config.json: not JSON");
}

// The text of a model that also takes pictures.
TEST_F(FolderTest, Gemma3WithPicturesOpensItsTextModel) {
  copy("gemma3");
  auto config = nlohmann::json::parse(std::ifstream(path("config.json")));
  write(
      "config.json",
      nlohmann::json{{"model_type", "gemma3"}, {"text_config", config}}.dump());
  EXPECT_EQ(open()->get_int("gemma3.block_count"), 3);
}

}  // namespace
}  // namespace rc::folder
