// What layers have of their own: windows and rotary bases.
#include <gtest/gtest.h>

#include <cstring>

#include "model/model_file.h"
#include "model/patient_util.h"
#include "tensor/half.h"

namespace rc::test {
namespace {

std::vector<int64_t> windows(const Patient& patient) {
  std::vector<int64_t> all;
  const auto file = model::ModelFile::from_gguf(patient.file());
  for (const model::Layer& layer : file->hyper_parameters().layers) {
    all.push_back(layer.window);
  }
  return all;
}

using Windows = std::vector<int64_t>;

TEST(Layers, HaveTheWindowsOfTheirArchitecture) {
  EXPECT_EQ(windows(Patient("llama2")), (Windows{0, 0}));
  EXPECT_EQ(windows(Patient("mistral")), (Windows{12, 12}));
  EXPECT_EQ(windows(Patient("gemma2")), (Windows{10, 0, 10}));
  EXPECT_EQ(windows(Patient("gemma3")), (Windows{10, 10, 10, 10, 10, 0}));
}

TEST(Layers, HaveTheWindowsOfTheFile) {
  Patient patient("gemma3");
  const std::string key = "gemma3.attention.sliding_window_pattern";
  patient.set<uint32_t>(key, 3);
  EXPECT_EQ(windows(patient), (Windows{10, 10, 0, 10, 10, 0}));
  patient.set<uint32_t>(key, 1);
  EXPECT_EQ(windows(patient), (Windows{0, 0, 0, 0, 0, 0}));
  patient.set_array(key, std::vector<int32_t>{0, 1, 0, 0, 1, 1});
  EXPECT_EQ(windows(patient), (Windows{0, 10, 0, 0, 10, 10}));
}

TEST(Layers, RotateByTheirWindow) {
  Patient patient("gemma3");
  patient.set("gemma3.rope.freq_base_swa", 5000.0f);
  const auto file = model::ModelFile::from_gguf(patient.file());
  const model::HyperParameters& hyper = file->hyper_parameters();
  ASSERT_EQ(hyper.ropes.size(), 2u);
  EXPECT_EQ(hyper.ropes[0].base, 1000000.0f);
  EXPECT_EQ(hyper.ropes[0].factor, 4.0f);
  EXPECT_EQ(hyper.ropes[1].base, 5000.0f);
  EXPECT_EQ(hyper.ropes[1].factor, 1.0f);
  for (const model::Layer& layer : hyper.layers) {
    EXPECT_EQ(layer.rope, layer.window > 0 ? 1 : 0);
  }
}

TEST(Layers, NeedNotRotate) {
  const auto file = model::ModelFile::from_gguf(Patient("smollm3").file());
  std::vector<int> ropes;
  for (const model::Layer& layer : file->hyper_parameters().layers) {
    ropes.push_back(layer.rope);
  }
  EXPECT_EQ(ropes, (std::vector<int>{0, 0, 0, model::Layer::kUnrotated}));
}

// Norms and biases are F32 for a program, whatever the file has: all rows of
// them.
TEST(Layers, HaveBiasesOfEveryExpertInAnyPlainType) {
  const std::string name = "blk.0.ffn_up_exps.bias";
  Patient patient("gpt-oss");
  Patient::Tensor& bias = patient.tensor(name);
  ASSERT_EQ(bias.shape, (std::vector<int64_t>{5, 32}));
  std::vector<float> expected(size_t{5} * 32);
  std::memcpy(expected.data(), bias.data.data(), bias.data.size());
  std::vector<uint16_t> halves;
  for (float& value : expected) {
    halves.push_back(f32_to_f16(value));
    value = f16_to_f32(halves.back());
  }
  bias.dtype = RC_DTYPE_F16;
  bias.data.resize(halves.size() * sizeof(uint16_t));
  std::memcpy(bias.data.data(), halves.data(), bias.data.size());
  const auto file = model::ModelFile::from_gguf(patient.file());
  model::WeightBuffer buffer;
  std::vector<float> actual(expected.size());
  std::memcpy(actual.data(), file->read_weight(name, buffer),
              actual.size() * sizeof(float));
  EXPECT_EQ(actual, expected);
}

}  // namespace
}  // namespace rc::test
