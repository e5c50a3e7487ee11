// Models of which kinds of layers differ: which layers of Cohere 2 with experts
// rotate, its norms, the sizes of latent attention in dots3.note, and the gates
// of Laguna.
#include <gtest/gtest.h>

#include "base/error.h"
#include "model/architecture.h"
#include "model/heads.h"
#include "model/model_file.h"
#include "model/patient_util.h"

namespace rc::test {
namespace {

using model::HyperParameters;
using model::Layer;

HyperParameters hyper_of(const Patient& patient) {
  return model::ModelFile::from_gguf(patient.file())->hyper_parameters();
}

void expect_refused(const Patient& patient, const std::string& key,
                    const std::string& message) {
  SCOPED_TRACE(key);
  try {
    hyper_of(patient);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(error.message().find(key), std::string::npos) << error.message();
    EXPECT_NE(error.message().find(message), std::string::npos)
        << error.message();
  }
}

TEST(Mixture, LeadingDenseLayersRotate) {
  const auto rotating = [](const Patient& patient) {
    std::vector<bool> all;
    for (const Layer& layer : hyper_of(patient).layers) {
      all.push_back(layer.rope != Layer::kUnrotated);
    }
    return all;
  };
  using Flags = std::vector<bool>;
  EXPECT_EQ(rotating(Patient("cohere2moe")), (Flags{true, true, true, false}));
  EXPECT_EQ(rotating(Patient("cohere2moe-squares")),
            (Flags{true, true, true, false}));
}

TEST(Mixture, KindOfNormFollowsTheEpsilonKey) {
  const std::string squares = "cohere2moe.attention.layer_norm_rms_epsilon";
  const std::string other = "cohere2moe.attention.layer_norm_epsilon";
  Patient patient("cohere2moe-squares");
  patient.set(squares, 0.25f);
  patient.set(other, 0.5f);
  EXPECT_EQ(hyper_of(patient).norm_epsilon, 0.25f);
  patient.drop(squares);
  EXPECT_EQ(hyper_of(patient).norm_epsilon, 0.5f);
  patient.drop(other);
  expect_refused(patient, other, "missing");
}

TEST(Mixture, LayersWithAWindowHaveOtherLatentHeads) {
  const HyperParameters hyper = hyper_of(Patient("dots3note"));
  ASSERT_EQ(hyper.layer_count(), 3);
  std::vector<int64_t> ranks, values, keys;
  for (const Layer& layer : hyper.layers) {
    ranks.push_back(model::latent_of(hyper, layer).rank);
    values.push_back(model::given_size(hyper, layer));
    keys.push_back(layer.key_size);
  }
  using Sizes = std::vector<int64_t>;
  EXPECT_EQ(ranks, (Sizes{8, 32, 8}));
  EXPECT_EQ(values, (Sizes{10, 8, 10}));
  EXPECT_EQ(keys, (Sizes{16, 40, 16}));
}

TEST(Mixture, SizesOfLatentHeadsAreChecked) {
  for (const char* key : {"kv_lora_rank_swa", "key_length_mla_swa",
                          "value_length_mla_swa", "indexer.top_k"}) {
    Patient patient("dots3note");
    const std::string name = cat("dots3note.attention.", key);
    patient.drop(name);
    expect_refused(patient, name, "missing");
  }
  Patient patient("dots3note");
  const std::string length = "dots3note.attention.key_length_mla_swa";
  patient.set(length, uint32_t{8});
  expect_refused(patient, length, "must be above the 8 elements that rotate");
  const std::string heads = "dots3note.attention.head_count";
  Patient other("dots3note");
  other.set_array(heads, std::vector<int32_t>{4, 6, 5});
  expect_refused(other, heads, "same in all layers without a window");
  const std::string pattern = "dots3note.attention.sliding_window_pattern";
  Patient windows("dots3note");
  windows.set_array(pattern, std::vector<int32_t>{1, 1, 1});
  windows.set_array(heads, std::vector<int32_t>{6, 6, 6});
  expect_refused(windows, pattern, "some layer must see all positions");
}

// As many as their matrix has rows.
TEST(Mixture, NumberOfGatesFollowsTheirMatrix) {
  const auto gates = [](const Patient& patient) {
    const auto file = patient.file();
    const auto& architecture = model::find_architecture(*file);
    std::vector<int64_t> counts;
    const HyperParameters hyper = hyper_of(patient);
    for (size_t i = 0; i < hyper.layers.size(); ++i) {
      counts.push_back(model::softplus_gates(*file, architecture, hyper, i));
    }
    return counts;
  };
  using Counts = std::vector<int64_t>;
  EXPECT_EQ(gates(Patient("laguna")), (Counts{4, 6, 6, 6}));
  EXPECT_EQ(gates(Patient("laguna-elements")), (Counts{32, 32, 32, 32}));
}

TEST(Mixture, LayersWithAWindowRotateAnotherPart) {
  Patient patient("laguna");
  HyperParameters hyper = hyper_of(patient);
  ASSERT_EQ(hyper.ropes.size(), 2u);
  EXPECT_EQ(hyper.ropes[0].dimensions, 4);
  EXPECT_EQ(hyper.ropes[1].dimensions, 8);
  EXPECT_EQ(hyper.ropes[1].base, 500.0f);
  const std::string part = "laguna.rope.dimension_count_swa";
  patient.set(part, uint32_t{6});
  EXPECT_EQ(hyper_of(patient).ropes[1].dimensions, 6);
  patient.set(part, uint32_t{7});
  expect_refused(patient, part, "must be even");
}

}  // namespace
}  // namespace rc::test
