// Required and optional metadata in files of models of 2021 to 2024.
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "model/model_file.h"
#include "model/patient_util.h"

namespace rc::test {
namespace {

model::HyperParameters numbers_of(const Patient& patient) {
  return model::ModelFile::from_gguf(patient.file())->hyper_parameters();
}

void expect_format_error(const Patient& patient, const std::string& message) {
  try {
    numbers_of(patient);
    ADD_FAILURE() << "accepted, but should say: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_FORMAT) << error.message();
    EXPECT_NE(error.message().find(message), std::string::npos)
        << error.message();
  }
}

TEST(EarlierArchitectures, MiniCpmHasTheScalesOfTheFirstModels) {
  Patient latent("minicpm3");
  for (const char* key : {"embedding_scale", "residual_scale", "logit_scale"}) {
    latent.drop(cat("minicpm3.", key));
  }
  for (const Patient& patient : {Patient("minicpm-old"), latent}) {
    const model::HyperParameters hyper = numbers_of(patient);
    EXPECT_EQ(hyper.embedding_scale, 12.0f);
    EXPECT_FLOAT_EQ(hyper.residual_scale, 1.4f / std::sqrt(2.0f));
    EXPECT_FLOAT_EQ(hyper.logit_factor, 256.0f / 32.0f);
  }
}

TEST(EarlierArchitectures, ValueLengthDefaultsToAPartOfTheWidth) {
  Patient patient("minicpm3");
  EXPECT_EQ(numbers_of(patient).latent.value, 10);
  patient.drop("minicpm3.attention.value_length");
  expect_format_error(patient,
                      "blk.0.attn_kv_b.weight has shape [88, 16], but the "
                      "metadata asks for [80, 16]");
}

TEST(EarlierArchitectures, QwenFeedForwardLengthIncludesGateAndUp) {
  Patient patient("qwen");
  EXPECT_EQ(numbers_of(patient).layers[0].feed_forward, 24);
  patient.set("qwen.feed_forward_length", uint32_t{47});
  expect_format_error(patient,
                      "qwen.feed_forward_length is 47, but must be even");
}

TEST(EarlierArchitectures, FalconRotatesOrHasLinearBiases) {
  Patient patient("falcon-alibi");
  EXPECT_EQ(numbers_of(patient).alibi, 8.0f);
  EXPECT_TRUE(numbers_of(patient).ropes.empty());
  patient.drop("falcon.attention.max_alibi_bias");
  EXPECT_EQ(numbers_of(patient).alibi, 0.0f);
  EXPECT_EQ(numbers_of(patient).ropes.size(), 1u);
  patient.set("falcon.attention.max_alibi_bias", 2000.0f);
  expect_format_error(patient, "falcon.attention.max_alibi_bias is 2000");
}

TEST(EarlierArchitectures, ExpertWeightsFollowTheMetadata) {
  Patient patient("bailingmoe");
  EXPECT_TRUE(numbers_of(patient).normalized_routing);
  patient.drop("bailingmoe.expert_weights_norm");
  EXPECT_FALSE(numbers_of(patient).normalized_routing);
  patient.set("bailingmoe.expert_weights_scale", 2.5f);
  EXPECT_EQ(numbers_of(patient).expert_scale, 2.5f);
}

}  // namespace
}  // namespace rc::test
