#include "model/rope.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "files/gguf/file.h"
#include "model/model_file.h"
#include "model/model_util.h"
#include "model/patient_util.h"
#include "test_data.h"

namespace rc::model {
namespace {

RopeParameters plain() {
  RopeParameters parameters;
  parameters.dimensions = 64;
  parameters.base = 500000.0f;
  return parameters;
}

TEST(Rope, FrequenciesArePowersOfTheBase) {
  const Rope rope = make_rope(plain(), {});
  ASSERT_EQ(rope.frequencies.size(), 32u);
  EXPECT_EQ(rope.scale, 1.0f);
  EXPECT_EQ(rope.frequencies[0], 1.0f);
  EXPECT_FLOAT_EQ(rope.frequencies[16], 1.0f / std::sqrt(500000.0f));
}

TEST(Rope, FactorsDivideFrequencies) {
  std::vector<float> factors(32, 1.0f);
  factors[5] = 8.0f;
  const Rope bare = make_rope(plain(), {});
  const Rope rope = make_rope(plain(), factors);
  EXPECT_EQ(rope.frequencies[4], bare.frequencies[4]);
  EXPECT_EQ(rope.frequencies[5], bare.frequencies[5] / 8.0f);
}

TEST(Rope, LinearScalingDividesAll) {
  RopeParameters parameters = plain();
  parameters.scaling = RopeScaling::kLinear;
  parameters.factor = 4.0f;
  const Rope bare = make_rope(plain(), {});
  const Rope rope = make_rope(parameters, {});
  for (size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(rope.frequencies[i], bare.frequencies[i] / 4.0f);
  }
}

// The factors of the golden file come from the configuration of transformers.
TEST(Rope, ComputedLlama3ScalingEqualsTheFactorsOfAFile) {
  const auto file = gguf::File::open(
      test::source_path("tests/golden/architectures/llama3.gguf").string());
  const gguf::Tensor* tensor = file->find_tensor("rope_freqs.weight");
  ASSERT_NE(tensor, nullptr);
  std::vector<float> factors(32);
  ASSERT_EQ(tensor->bytes, factors.size() * sizeof(float));
  file->read(*tensor, 0, std::as_writable_bytes(std::span(factors)));

  RopeParameters parameters = plain();
  const Rope expected = make_rope(parameters, factors);
  parameters.scaling = RopeScaling::kLlama3;
  parameters.factor = 8.0f;
  parameters.original_context = 64;
  const Rope computed = make_rope(parameters, {});
  for (size_t i = 0; i < factors.size(); ++i) {
    EXPECT_FLOAT_EQ(computed.frequencies[i], expected.frequencies[i]) << i;
  }
  // Where a file has both, the factors count once.
  EXPECT_EQ(make_rope(parameters, factors).frequencies, expected.frequencies);
}

TEST(Rope, YarnKeepsFastPairsAndInterpolatesSlowOnes) {
  RopeParameters parameters = plain();
  parameters.base = 10000.0f;
  const Rope bare = make_rope(parameters, {});
  parameters.scaling = RopeScaling::kYarn;
  parameters.factor = 4.0f;
  parameters.original_context = 512;
  const Rope rope = make_rope(parameters, {});
  EXPECT_EQ(rope.frequencies[0], bare.frequencies[0]);
  EXPECT_FLOAT_EQ(rope.frequencies[31], bare.frequencies[31] / 4.0f);
  for (size_t i = 1; i < 32; ++i) {
    const float ratio = rope.frequencies[i] / bare.frequencies[i];
    const float former = rope.frequencies[i - 1] / bare.frequencies[i - 1];
    EXPECT_LE(ratio, former * 1.000001f) << i;
  }
  EXPECT_FLOAT_EQ(rope.scale, 1.1386294f);

  parameters.attention_factor = 2.0f;
  EXPECT_FLOAT_EQ(make_rope(parameters, {}).scale, 2.2772589f);
  parameters.yarn_extrapolation = 0.0f;
  EXPECT_FLOAT_EQ(make_rope(parameters, {}).frequencies[0],
                  bare.frequencies[0] / 4.0f);
}

// Converters write the scale that folders call attention_factor as a whole, and
// the formula is not multiplied onto it.
TEST(Rope, ExplicitScaleReplacesTheFormula) {
  struct Case {
    const char* name;
    const char* architecture;
    float scale;  // with which the logits were recorded
  };
  const Case kCases[] = {{"llama-yarn", "llama", 1.1386294f},
                         {"olmo3", "olmo2", 1.1386294f},
                         {"gpt-oss", "gpt-oss", 1.2079442f},
                         {"mistral3", "mistral3", 1.0f},
                         {"deepseek2", "deepseek2", 1.0f}};
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    const auto scaling = [&](const char* key) {
      return cat(c.architecture, ".rope.scaling.", key);
    };
    const auto rows = [&](const test::Patient& patient) {
      const auto model =
          test::load(ModelFile::from_gguf(patient.file()), "reference");
      return test::evaluate_case(*model, c.name);
    };
    test::Patient whole(c.name);
    whole.set(scaling("yarn_attn_factor"), c.scale);
    const auto expected = test::read_floats(test::source_path(
        cat("tests/golden/architectures/", c.name, ".logits.f32")));
    EXPECT_LT(test::normalized_error(rows(whole), expected), 1e-9);
    // Another one, and the same said as a multiple of the formula's.
    whole.set(scaling("yarn_attn_factor"), 1.5f * c.scale);
    test::Patient relative(c.name);
    relative.set(scaling("attn_factor"), 1.5f);
    const std::vector<float> stronger = rows(whole);
    EXPECT_LT(test::normalized_error(stronger, rows(relative)), 1e-9);
    EXPECT_GT(test::normalized_error(stronger, expected), 1e-5);
    // Without yarn it says nothing.
    for (test::Patient* patient : {&whole, &relative}) {
      patient->set(scaling("type"), std::string("none"));
    }
    relative.set(scaling("attn_factor"), 1.0f);
    EXPECT_EQ(rows(whole), rows(relative));
  }
}

TEST(Rope, ExtremesAreFinite) {
  RopeParameters parameters = plain();
  parameters.scaling = RopeScaling::kYarn;
  parameters.dimensions = 2;
  for (const float base : {1.001f, 1e15f}) {
    for (const float beta : {1e-3f, 1e6f}) {
      for (const int64_t context : {int64_t{1}, int64_t{1} << 30}) {
        parameters.base = base;
        parameters.yarn_beta_fast = beta;
        parameters.yarn_beta_slow = 1e3f / beta;
        parameters.original_context = context;
        for (const float factor : {1e-3f, 1e6f}) {
          parameters.factor = factor;
          const Rope rope = make_rope(parameters, {});
          EXPECT_TRUE(std::isfinite(rope.frequencies[0]));
          EXPECT_TRUE(std::isfinite(rope.scale));
        }
      }
    }
  }
}

}  // namespace
}  // namespace rc::model
