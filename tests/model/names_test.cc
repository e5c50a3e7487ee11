// The names that we read in files are those that the gguf package writes, and a
// file of an architecture that is not known is likened to those that are.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "base/error.h"
#include "model/architecture.h"
#include "model/model_file.h"
#include "model/model_util.h"
#include "model/patient_util.h"
#include "model/tensor_names.h"
#include "test_data.h"

namespace rc::test {
namespace {

nlohmann::json package_names() {
  return nlohmann::json::parse(
      std::ifstream(source_path("tests/golden/architectures/names.json")));
}

TEST(Names, TensorsMatchThePackageGguf) {
  const auto architectures = package_names().at("architectures");
  // Architectures that no converter of the package writes, or only newer ones.
  const std::set<std::string> others = {"opt", "gptneo", "granite_swa"};
  for (const model::Architecture* architecture : model::known_architectures()) {
    const std::string name(architecture->name);
    SCOPED_TRACE(name);
    if (others.contains(name)) continue;
    ASSERT_TRUE(architectures.contains(name));
    const auto known = architectures.at(name).get<std::set<std::string>>();
    for (const model::ReadTensor& tensor : model::tensors_of(*architecture)) {
      // Newer converters may write it for any model with experts.
      if (tensor.stem == "ffn_gate_up_exps") continue;
      // The package's models of this architecture have no output matrix.
      if (name == "bitnet" && tensor.stem == "output") continue;
      EXPECT_TRUE(known.contains(tensor.stem)) << tensor.stem;
    }
  }
}

TEST(Names, KeysMatchThePackageGguf) {
  const auto known = package_names().at("keys").get<std::set<std::string>>();
  // Keys of files that are older or newer than the package's names, of scaling
  // that the package writes as a tensor, and of settings of folders that the
  // package does not write.
  const std::set<std::string> others = {"rope.scale_linear",
                                        "rope.scaling.low_freq_factor",
                                        "rope.scaling.high_freq_factor",
                                        "hidden_activation",
                                        "attention.head_norms",
                                        "attention.rope_pattern",
                                        "ssm.time_step_min",
                                        "ssm.time_step_max",
                                        "ssm.dt_b_c_rms_epsilon"};
  for (const std::string& name : golden_architectures()) {
    SCOPED_TRACE(name);
    const auto file = model::ModelFile::open(
        source_path(cat("tests/golden/architectures/", name, ".gguf"))
            .string());
    for (const std::string& key : file->hyper_parameters().keys) {
      EXPECT_TRUE(known.contains(key) || others.contains(key)) << key;
    }
  }
}

// tensors_of lists the tensors that files have.
TEST(Names, EveryTensorOfTheFilesIsListed) {
  std::set<std::string> seen;
  for (const std::string& name : golden_architectures()) {
    SCOPED_TRACE(name);
    const auto file = gguf::File::open(
        source_path(cat("tests/golden/architectures/", name, ".gguf")));
    const model::Architecture& architecture = model::find_architecture(*file);
    seen.emplace(architecture.name);
    const model::Architecture* const only[] = {&architecture};
    EXPECT_EQ(model::nearest_architectures(*file, only).size(), 1u);
  }
  for (const model::Architecture* architecture : model::known_architectures()) {
    EXPECT_TRUE(seen.contains(std::string(architecture->name)))
        << architecture->name << " has no golden model";
  }
}

std::string refusal_of(const Patient& patient) {
  try {
    model::ModelFile::from_gguf(patient.file());
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_UNSUPPORTED);
    return error.message();
  }
  return "";
}

TEST(Names, UnknownArchitectureErrorNamesSimilarOnes) {
  const struct {
    const char* model;
    const char* likened;
  } kCases[] = {
      {"gpt-oss", "; its tensors have the names of those of gpt-oss"},
      {"olmo2", "; its tensors have the names of those of olmo2"},
      {"mamba2", "; its tensors have the names of those of mamba2"},
      {"apertus", "; its tensors have the names of those of apertus"},
      {"qwen2moe", "; its tensors have the names of those of qwen2moe"},
  };
  for (const auto& one : kCases) {
    Patient patient(one.model);
    patient.set("general.architecture", std::string("marvin"));
    const std::string message = refusal_of(patient);
    EXPECT_NE(message.find("'marvin' is not known; docs/models.md lists the "),
              std::string::npos)
        << message;
    EXPECT_TRUE(message.ends_with(one.likened)) << message;
  }
  Patient strange("llama2");
  strange.set("general.architecture", std::string("marvin"));
  strange.add_tensor(
      {"blk.0.towel.weight", RC_DTYPE_F32, {1}, std::vector<std::byte>(4)});
  EXPECT_EQ(refusal_of(strange).find("its tensors"), std::string::npos);
}

}  // namespace
}  // namespace rc::test
