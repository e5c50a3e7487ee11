// Folders of Qwen3-Next and Qwen3.5: heads of the gated delta rule.
#include <cmath>
#include <string>
#include <vector>

#include "base/cat.h"
#include "files/folder/folder_util.h"

namespace rc::folder {
namespace {

using test::OneTensor;
using Floats = std::vector<float>;

class Qwen3Next : public OneTensor {
 protected:
  // Two heads of keys, with two heads of values each.
  void describe(const std::string& type, int64_t key, int64_t value) {
    change("config.json",
           cat(R"({"model_type": ")", type, R"(", "num_experts": 2,
                   "num_experts_per_tok": 1, "moe_intermediate_size": 8,
                   "shared_expert_intermediate_size": 6,
                   "attention_bias": false, "layer_types": null,
                   "linear_num_key_heads": 2, "linear_num_value_heads": 4,
                   "linear_key_head_dim": )",
               key, R"(, "linear_value_head_dim": )", value, "}"));
  }
  void write_and_describe(const std::string& name,
                          const std::vector<int64_t>& shape) {
    write_tensor("model.layers.0.linear_attn." + name, "F32", shape);
    describe("qwen3_5_text", 1, 1);
  }
};

TEST_F(Qwen3Next, SizesFollowFromTheHeads) {
  write_tensor("model.layers.0.linear_attn.dt_bias", "F32", {4});
  for (const auto& [type, name] :
       std::vector<std::pair<std::string, std::string>>{
           {"qwen3_next", "qwen3next."},
           {"qwen3_5_text", "qwen35."},
           {"qwen3_5_moe_text", "qwen35moe."}}) {
    SCOPED_TRACE(type);
    describe(type, 3, 5);
    const auto number = [&, &prefix = name](const char* key) {
      return open()->get_int(prefix + key);
    };
    EXPECT_EQ(number("ssm.conv_kernel"), 4);  // by default
    EXPECT_EQ(number("ssm.state_size"), 3);
    EXPECT_EQ(number("ssm.group_count"), 2);
    EXPECT_EQ(number("ssm.time_step_rank"), 4);
    EXPECT_EQ(number("ssm.inner_size"), 4 * 5);
    EXPECT_EQ(number("full_attention_interval"), 4);
    if (type != "qwen3_5_text") {
      EXPECT_EQ(number("expert_count"), 2);
      EXPECT_EQ(number("expert_shared_feed_forward_length"), 6);
    }
    change("config.json", R"({"linear_conv_kernel_dim": 7,
        "layer_types": ["linear_attention", "full_attention"]})");
    EXPECT_EQ(number("ssm.conv_kernel"), 7);
    EXPECT_EQ(number("full_attention_interval"), 2);
    change("config.json", R"({"linear_conv_kernel_dim": null})");
  }
}

TEST_F(Qwen3Next, NumbersOfHeadsHaveBounds) {
  write_tensor("model.layers.0.linear_attn.dt_bias", "F32", {4});
  const auto refused = [&](const char* patch, const char* message) {
    describe("qwen3_next", 1, 1);
    change("config.json", patch);
    expect_refused(RC_E_FORMAT, message);
  };
  refused(R"({"linear_num_key_heads": 0})",
          "'linear_num_key_heads' is 0; 1 to 4096 are possible");
  refused(R"({"linear_key_head_dim": 4097})",
          "'linear_key_head_dim' is 4097; 1 to 4096 are possible");
  refused(R"({"linear_num_key_heads": 3})",
          "'linear_num_value_heads' is 4, which is no multiple of "
          "linear_num_key_heads, 3");
  refused(R"({"full_attention_interval": 0})",
          "'full_attention_interval' is 0, but must be at least 1");
}

// The first head of values of each head of keys, then the second ones.
TEST_F(Qwen3Next, HeadsOfValuesAreInterleaved) {
  write_and_describe("in_proj_qkv.weight", {8, 1});
  EXPECT_EQ(floats("blk.0.attn_qkv.weight"), (Floats{0, 1, 2, 3, 4, 6, 5, 7}));
  write_and_describe("in_proj_z.weight", {4, 2});
  EXPECT_EQ(floats("blk.0.attn_gate.weight"), (Floats{0, 1, 4, 5, 2, 3, 6, 7}));
  write_and_describe("in_proj_b.weight", {4, 1});
  EXPECT_EQ(floats("blk.0.ssm_beta.weight"), (Floats{0, 2, 1, 3}));
  write_and_describe("dt_bias", {4});
  EXPECT_EQ(floats("blk.0.ssm_dt.bias"), (Floats{0, 2, 1, 3}));
  write_and_describe("A_log", {4});
  const Floats decays = floats("blk.0.ssm_a");
  ASSERT_EQ(decays.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_FLOAT_EQ(decays[i], -std::exp(Floats{0, 2, 1, 3}[i]));
  }
  write_and_describe("out_proj.weight", {2, 4});
  EXPECT_EQ(floats("blk.0.ssm_out.weight"), (Floats{0, 2, 1, 3, 4, 6, 5, 7}));
}

TEST_F(Qwen3Next, OnlyConvolutionsOfSingleChannelsAreAccepted) {
  write_and_describe("conv1d.weight", {8, 1, 2});
  EXPECT_EQ(open()->find_tensor("blk.0.ssm_conv1d.weight")->shape,
            (std::vector<int64_t>{8, 2}));
  EXPECT_EQ(floats("blk.0.ssm_conv1d.weight"),
            (Floats{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15}));
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{8, 2, 1}, {8, 2}}) {
    write_and_describe("conv1d.weight", shape);
    expect_refused(RC_E_FORMAT, "a convolution of each channel by itself");
  }
  write_and_describe("conv1d.weight", {7, 1, 2});
  expect_refused(RC_E_FORMAT, "8 rows");
  write_and_describe("out_proj.weight", {2, 3});
  expect_refused(RC_E_FORMAT, "a matrix of 4 columns");
}

}  // namespace
}  // namespace rc::folder
