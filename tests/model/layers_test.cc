// Properties of single layers: windows and rotary bases.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>

#include "base/error.h"
#include "model/model_file.h"
#include "model/model_util.h"
#include "model/patient_util.h"
#include "tensor/half.h"
#include "test_data.h"

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
  EXPECT_EQ(windows(Patient("cwm")), (Windows{0, 9, 9, 9}));
  for (const auto& [name, architecture, expected] :
       {std::tuple{"gpt-neo", "gptneo", Windows{0, 9, 0, 9}},
        {"granite-swa", "granite_swa", {0, 9, 9, 9}},
        {"exaone-moe", "exaone-moe", {9, 9, 9}}}) {
    Patient patient(name);
    patient.drop(cat(architecture, ".attention.sliding_window_pattern"));
    EXPECT_EQ(windows(patient), expected) << name;
  }
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

TEST(Layers, LayersWithoutRotationAreMarked) {
  const auto file = model::ModelFile::from_gguf(Patient("smollm3").file());
  std::vector<int> ropes;
  for (const model::Layer& layer : file->hyper_parameters().layers) {
    ropes.push_back(layer.rope);
  }
  EXPECT_EQ(ropes, (std::vector<int>{0, 0, 0, model::Layer::kUnrotated}));
}

TEST(Layers, RotateByTheMetadata) {
  const auto rotating = [](const Patient& patient) {
    std::vector<int> ropes;
    const auto file = model::ModelFile::from_gguf(patient.file());
    for (const model::Layer& layer : file->hyper_parameters().layers) {
      ropes.push_back(layer.rope);
    }
    return ropes;
  };
  constexpr int kNone = model::Layer::kUnrotated;
  Patient patient("granite-swa");
  EXPECT_EQ(rotating(patient), (std::vector<int>{kNone, 0, 0, kNone}));
  const std::string key = "granite_swa.attention.rope_pattern";
  patient.set_array(key, std::vector<int32_t>{1, 0, 0});
  EXPECT_THROW(rotating(patient), Error);
  patient.drop(key);
  EXPECT_EQ(rotating(patient), (std::vector<int>{0, 0, 0, 0}));
}

TEST(Layers, HaveTheFunctionThatTheFileNames) {
  const auto hyper = [](const Patient& patient) {
    return model::ModelFile::from_gguf(patient.file())->hyper_parameters();
  };
  Patient patient("bitnet");
  const std::string key = "bitnet.hidden_activation";
  EXPECT_EQ(hyper(patient).activation, RC_FUNCTION_RELU);
  EXPECT_TRUE(hyper(patient).activation_times_itself);
  patient.set(key, std::string_view("relu"));
  EXPECT_EQ(hyper(patient).activation, RC_FUNCTION_RELU);
  EXPECT_FALSE(hyper(patient).activation_times_itself);
  patient.set(key, std::string_view("tanh"));
  try {
    hyper(patient);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.message())
                  .find("known are gelu, "
                        "gelu_pytorch_tanh, relu, relu2, silu"),
              std::string::npos)
        << error.message();
  }
  patient.drop(key);
  EXPECT_EQ(hyper(patient).activation, -1);
}

// An indexer is not computed: there are no more positions than it would choose,
// which are all.
TEST(Layers, AttendToAllPositionsWithinTheTopKOfAnIndexer) {
  const auto folder = source_path("tests/golden/architectures");
  for (const char* name : {"deepseek32", "glm-dsa", "dots3note"}) {
    SCOPED_TRACE(name);
    const auto json = nlohmann::json::parse(
        std::ifstream(folder / (std::string(name) + ".json")));
    const auto tokens = json.at("tokens").get<std::vector<int32_t>>();
    Patient patient(name);
    const std::string key = std::string(name) + ".attention.indexer.top_k";
    EXPECT_EQ(model::ModelFile::from_gguf(patient.file())->position_limit(),
              64);
    const auto count = static_cast<uint32_t>(tokens.size());
    patient.set(key, count);
    const auto file = model::ModelFile::from_gguf(patient.file());
    EXPECT_EQ(file->hyper_parameters().context_length, count);
    const auto expected =
        read_floats(folder / (std::string(name) + ".logits.f32"));
    EXPECT_LT(
        normalized_error(evaluate(*load(file, "reference"), tokens), expected),
        1e-9);
    patient.set(key, count - 1);
    const auto shorter =
        load(model::ModelFile::from_gguf(patient.file()), "reference");
    EXPECT_THROW(evaluate(*shorter, tokens), Error);
  }
}

// Arrays may have members for layers that guess further tokens.
TEST(Layers, UseTheFirstMembersOfLongerArrays) {
  Patient patient("mimo2");
  patient.set("mimo2.block_count", uint32_t{4});
  patient.set("mimo2.nextn_predict_layers", uint32_t{1});
  const std::string heads = "mimo2.attention.head_count_kv";
  const std::string pattern = "mimo2.attention.sliding_window_pattern";
  patient.set_array(heads, std::vector<int32_t>{1, 2, 1, 2});
  patient.set_array(pattern, std::vector<int32_t>{0, 1, 0, 1});
  EXPECT_EQ(windows(patient), (Windows{0, 10, 0}));
  patient.set_array(pattern, std::vector<int32_t>{0, 1, 0, 1, 1});
  EXPECT_THROW(model::ModelFile::from_gguf(patient.file()), Error);
}

// Files of DeepSeek 2's architecture that do not say what scores are have
// sigmoids where experts are chosen with a bias, and others a softmax.
TEST(Layers, ScoreFunctionOfExpertsHasADefault) {
  const auto score = [](const Patient& patient) {
    return model::ModelFile::from_gguf(patient.file())
        ->hyper_parameters()
        .expert_score;
  };
  EXPECT_EQ(score(Patient("glm4-moe-lite")), RC_SCORE_SIGMOID);
  EXPECT_EQ(score(Patient("deepseek2-normed")), RC_SCORE_SOFTMAX);
  Patient patient("glm4-moe-lite");
  patient.set("deepseek2.expert_gating_func", uint32_t{0});
  EXPECT_EQ(score(patient), RC_SCORE_SIGMOID);
  patient.set("deepseek2.expert_gating_func", uint32_t{1});
  EXPECT_EQ(score(patient), RC_SCORE_SOFTMAX);
}

// A gate for each head is spread by a matrix, which has a limit.
TEST(Layers, TooManyHeadGatesAreRefused) {
  Patient patient("step35");
  patient.set("step35.attention.head_count", uint32_t{4096});
  patient.set("step35.attention.head_count_kv", uint32_t{2});
  try {
    model::ModelFile::from_gguf(patient.file());
    FAIL() << "it was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_UNSUPPORTED);
    EXPECT_NE(error.message().find("4096 heads of 8"), std::string::npos)
        << error.message();
  }
}

// Scales of queries by position do not end where the model's training did.
TEST(Layers, ScaleQueriesBeyondTheContext) {
  const auto folder = source_path("tests/golden/architectures");
  const auto json =
      nlohmann::json::parse(std::ifstream(folder / "mistral3.json"));
  Patient patient("mistral3");
  patient.set("mistral3.context_length", uint32_t{20});
  const auto file = model::ModelFile::from_gguf(patient.file());
  EXPECT_EQ(file->position_step(), 16);
  EXPECT_EQ(file->position_limit(), 16 * 65536);
  const auto resident = load(file, "reference");
  const auto expected = read_floats(folder / "mistral3.logits.f32");
  EXPECT_LT(
      normalized_error(
          evaluate(*resident, json.at("tokens").get<std::vector<int32_t>>()),
          expected),
      1e-9);
  patient.set("mistral3.rope.scaling.original_context_length",
              uint32_t{1} << 29);
  EXPECT_EQ(model::ModelFile::from_gguf(patient.file())->position_limit(),
            int64_t{3} << 29);
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
