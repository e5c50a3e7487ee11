// Gemma 3n and Gemma 4: what their configurations say of layers.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "files/folder/folder_util.h"

namespace rc::folder {
namespace {

class Gemma : public test::FolderTest {
 protected:
  // A folder of Gemma 3 has the tensors that a model must have.
  void describe(const std::string& json) {
    copy("gemma3");
    write("config.json", json);
  }
  std::vector<int64_t> ints(const char* key) { return *open()->find_ints(key); }
};

constexpr const char* kReleased = R"({
  "model_type": "gemma4", "vision_config": {}, "audio_config": null,
  "text_config": {
    "model_type": "gemma4_text", "hidden_size": 32, "intermediate_size": 32,
    "num_hidden_layers": 3, "num_attention_heads": 2, "head_dim": 16,
    "global_head_dim": 32, "num_key_value_heads": 2,
    "num_global_key_value_heads": 1, "attention_k_eq_v": true,
    "vocab_size": 64, "sliding_window": 8, "num_kv_shared_layers": 1,
    "use_double_wide_mlp": true, "hidden_size_per_layer_input": 0,
    "layer_types": ["sliding_attention", "full_attention", "full_attention"],
    "use_bidirectional_attention": "vision", "rope_parameters": {
      "full_attention": {"rope_type": "proportional", "rope_theta": 1e6,
                         "partial_rotary_factor": 0.25},
      "sliding_attention": {"rope_type": "default", "rope_theta": 5e3}}}})";

TEST_F(Gemma, ReleasedFoldersHaveHeadsByKindOfLayer) {
  describe(kReleased);
  const auto file = open();
  EXPECT_EQ(file->get_int("gemma4.attention.key_length"), 32);
  EXPECT_EQ(file->get_int("gemma4.attention.key_length_swa"), 16);
  EXPECT_EQ(file->get_int("gemma4.rope.dimension_count"), 32);
  EXPECT_EQ(file->get_int("gemma4.rope.dimension_count_swa"), 16);
  EXPECT_EQ(file->get_float("gemma4.rope.freq_base"), 1e6);
  EXPECT_EQ(file->get_float("gemma4.rope.freq_base_swa"), 5e3);
  EXPECT_EQ(file->get_int("gemma4.attention.shared_kv_layers"), 1);
  using Ints = std::vector<int64_t>;
  EXPECT_EQ(ints("gemma4.attention.head_count_kv"), (Ints{2, 1, 1}));
  EXPECT_EQ(ints("gemma4.feed_forward_length"), (Ints{32, 32, 64}));
  const gguf::Tensor* factors = file->find_tensor("rope_freqs.weight");
  ASSERT_NE(factors, nullptr);
  const auto bytes = file->read(*factors);
  std::vector<float> values(16);
  ASSERT_EQ(bytes.size(), values.size() * sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(values[i], i < 4 ? 1.0f : 1e30f) << i;
  }
}

TEST_F(Gemma, NewerFoldersHaveHeadsByLayer) {
  auto config = nlohmann::json::parse(kReleased);
  auto& text = config["text_config"];
  text.erase("global_head_dim");
  text.erase("num_global_key_value_heads");
  text["per_layer_config"] = {
      {"1", {{"head_dim", 24}, {"num_key_value_heads", 1}}},
      {"2", {{"head_dim", 24}}}};
  describe(config.dump());
  EXPECT_EQ(open()->get_int("gemma4.attention.key_length"), 24);
  EXPECT_EQ(ints("gemma4.attention.head_count_kv"),
            (std::vector<int64_t>{2, 1, 2}));
  text["per_layer_config"]["2"]["head_dim"] = 28;
  describe(config.dump());
  expect_refused(RC_E_UNSUPPORTED,
                 "'text_config'.'per_layer_config' gives layer 2 heads of 28");
}

TEST_F(Gemma, UnsupportedOptionsAreRefused) {
  const auto refuse = [&](const char* key, const nlohmann::json& value,
                          rc_status status, const char* message) {
    auto config = nlohmann::json::parse(kReleased);
    config["text_config"][key] = value;
    describe(config.dump());
    expect_refused(status, message);
  };
  refuse("use_bidirectional_attention", "all", RC_E_UNSUPPORTED,
         "'use_bidirectional_attention' is 'all'");
  refuse("layer_types", {"full_attention"}, RC_E_FORMAT,
         "'layer_types' has 1 layers, but num_hidden_layers is 3");
  refuse("hidden_activation", "silu", RC_E_UNSUPPORTED,
         "'hidden_activation' is 'silu'");
  refuse("rope_parameters",
         {{"full_attention",
           {{"rope_type", "proportional"}, {"partial_rotary_factor", 2.0}}}},
         RC_E_FORMAT, "'partial_rotary_factor' is 2");
}

TEST_F(Gemma, ActivationSparsityBecomesAStandardDeviation) {
  const char* config = R"({
    "model_type": "gemma3n_text", "hidden_size": 32, "intermediate_size": [
    32, 32, 64], "num_hidden_layers": 3, "num_attention_heads": 2,
    "head_dim": 16, "vocab_size": 64, "num_kv_shared_layers": 0,
    "activation_sparsity_pattern": [0.95, 0.5, 0.0]})";
  describe(config);
  const auto cutoffs =
      *open()->find_floats("gemma3n.activation_sparsity_scale");
  ASSERT_EQ(cutoffs.size(), 3u);
  EXPECT_NEAR(cutoffs[0], 1.6448536, 1e-6);
  EXPECT_NEAR(cutoffs[1], 0.0, 1e-6);
  EXPECT_TRUE(std::isinf(cutoffs[2]) && cutoffs[2] < 0);
  EXPECT_EQ(ints("gemma3n.feed_forward_length"),
            (std::vector<int64_t>{32, 32, 64}));
  auto other = nlohmann::json::parse(config);
  other["activation_sparsity_pattern"] = {0.5, 0.5, 1.0};
  describe(other.dump());
  expect_refused(RC_E_FORMAT, "'activation_sparsity_pattern' holds 1");
}

}  // namespace
}  // namespace rc::folder
