// Logits of models in Hugging Face folders, and of the files made of these,
// against those of transformers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "files/convert.h"
#include "files/open_model.h"
#include "model/model_util.h"
#include "runtime/registry.h"
#include "temporary.h"
#include "test_data.h"

namespace rc::test {
namespace {

namespace fs = std::filesystem;

// Folders that tests/golden/architectures/folders.py wrote, of which there are
// too many to keep: RUNCIBLE_TEST_FOLDERS.
fs::path written_folders() {
  const char* variable = std::getenv("RUNCIBLE_TEST_FOLDERS");
  return variable == nullptr ? fs::path() : fs::path(variable);
}

std::vector<std::string> names_in(const fs::path& root) {
  std::vector<std::string> names;
  if (root.empty()) return names;
  for (const auto& entry : fs::directory_iterator(root)) {
    if (entry.is_directory()) names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Compares the logits of the model at `path` with those recorded as `name` in
// `golden`.
void expect_logits_of_folder(const fs::path& path, const fs::path& golden,
                             const std::string& name,
                             const std::string& backend,
                             double tolerance = 1e-7) {
  const auto json =
      nlohmann::json::parse(std::ifstream(golden / (name + ".json")));
  const auto resident = load(model::ModelFile::open(path.string()), backend);
  const std::vector<float> actual =
      json.contains("runs")
          ? evaluate_case(*resident, name)
          : evaluate(*resident, json.at("tokens").get<std::vector<int32_t>>());
  const double error =
      normalized_error(actual, read_floats(golden / (name + ".logits.f32")));
  EXPECT_LT(error, backend == "reference" ? 1e-9 : tolerance);
  ::testing::Test::RecordProperty("error", cat(error));
}

// In the order of transformations: queries and keys in pairs and divisors of
// frequencies from several files, experts stacked, biases, norms with the one,
// experts turned, state spaces, an encoder, matrices turned, queries, keys and
// values in groups, chosen and shared experts, latent keys and values, experts
// turned whose halves are gate and up.
std::vector<std::string> golden_folders() {
  return names_in(source_path("tests/golden/folders"));
}

// Returns the values of a tensor of F32.
std::vector<float> values_of(const gguf::File& file,
                             const gguf::Tensor& tensor) {
  std::vector<float> values(tensor.bytes / sizeof(float));
  file.read(tensor, 0, std::as_writable_bytes(std::span(values)));
  return values;
}

using FolderCase = std::tuple<std::string, std::string>;  // backend, name

std::string folder_case_name(const ::testing::TestParamInfo<FolderCase>& info) {
  return test_name(cat(std::get<0>(info.param), " ", std::get<1>(info.param)));
}

class Folders : public ::testing::TestWithParam<FolderCase> {};

TEST_P(Folders, LogitsMatchTransformers) {
  const auto& [backend, name] = GetParam();
  const fs::path golden = source_path("tests/golden/folders");
  expect_logits_of_folder(golden / name, golden, name, backend);
}

INSTANTIATE_TEST_SUITE_P(
    Golden, Folders,
    ::testing::Combine(::testing::ValuesIn(all_backends()),
                       ::testing::ValuesIn(golden_folders())),
    folder_case_name);

// Models with a trait that few of their kind have, as folders of today's
// transformers and as the files made of these.
// The cpu backend rounds what meets weights of BF16, which a clamped step or a
// softcap magnifies.
constexpr double kTraitTolerance = 1e-6;

class Traits : public ::testing::TestWithParam<FolderCase> {};

TEST_P(Traits, LogitsMatchTransformers) {
  const auto& [backend, name] = GetParam();
  const fs::path golden = source_path("tests/golden/traits");
  expect_logits_of_folder(golden / name, golden, name, backend,
                          kTraitTolerance);
}

TEST_P(Traits, ConvertedLogitsMatchTransformers) {
  const auto& [backend, name] = GetParam();
  const fs::path golden = source_path("tests/golden/traits");
  const TemporaryFolder target;
  const fs::path path = target.path() / "model.gguf";
  convert_model(*open_model((golden / name).string()), path.string(), {});
  expect_logits_of_folder(path, golden, name, backend, kTraitTolerance);
}

INSTANTIATE_TEST_SUITE_P(
    Golden, Traits,
    ::testing::Combine(
        ::testing::Values("reference", "cpu"),
        ::testing::ValuesIn(names_in(source_path("tests/golden/traits")))),
    folder_case_name);

TEST(FolderModel, SharesItsWeights) {
  const auto path = source_path("tests/golden/folders/llama").string();
  const auto first = load(model::ModelFile::open(path), "cpu");
  const auto second = load(model::ModelFile::open(path), "cpu");
  ASSERT_NE(first->file().file().identity(), nullptr);
  EXPECT_EQ(*first->file().file().identity(),
            *second->file().file().identity());
  EXPECT_EQ(first->resources().front().identity,
            second->resources().front().identity);
  EXPECT_EQ(first->file().fingerprint(), second->file().fingerprint());
  const auto other =
      load(model::ModelFile::open(
               source_path("tests/golden/folders/qwen2").string()),
           "cpu");
  EXPECT_NE(*first->file().file().identity(), *other->file().file().identity());
  EXPECT_NE(first->file().fingerprint(), other->file().fingerprint());
}

TEST(FolderModel, CannotStayMapped) {
  const auto path = source_path("tests/golden/folders/llama").string();
  try {
    load(model::ModelFile::open(path), "cpu", {.keep_mapped = true});
    FAIL() << "it was mapped";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_UNSUPPORTED);
    EXPECT_NE(error.message().find("cannot stay mapped"), std::string::npos)
        << error.message();
  }
}

// Returns the reason why an optional backend has no device; "" if it has one.
std::string why_no_device(const std::string& backend) {
  static const runtime::Discovery kDiscovery = runtime::discover();
  for (const auto& found : kDiscovery.backends) {
    if (found.name == backend) return found.reason;
  }
  return "there is no module";
}

class WrittenFolders : public ::testing::TestWithParam<FolderCase> {
 protected:
  void SetUp() override {
    const std::string why = why_no_device(std::get<0>(GetParam()));
    if (!why.empty()) GTEST_SKIP() << why;
  }
};

TEST_P(WrittenFolders, LogitsMatchTransformers) {
  const auto& [backend, name] = GetParam();
  expect_logits_of_folder(written_folders() / name,
                          source_path("tests/golden/architectures"), name,
                          backend);
}

TEST_P(WrittenFolders, ConvertedLogitsMatchTransformers) {
  const auto& [backend, name] = GetParam();
  const TemporaryFolder target;
  const fs::path path = target.path() / (name + ".gguf");
  convert_model(*open_model((written_folders() / name).string()), path.string(),
                {});
  expect_logits_of_folder(path, source_path("tests/golden/architectures"), name,
                          backend);
}

// The file was made of the same model by means of the gguf package.
TEST_P(WrittenFolders, TensorsEqualThoseOfTheFile) {
  const auto& [backend, name] = GetParam();
  if (backend != "reference") GTEST_SKIP() << "no backend is needed";
  if (name == "deepseek2-old") {
    GTEST_SKIP() << "folders become what newer files have";
  }
  const auto folder = open_model((written_folders() / name).string());
  const auto file = gguf::File::open(
      source_path("tests/golden/architectures/" + name + ".gguf").string());
  EXPECT_EQ(folder->get_string("general.architecture"),
            file->get_string("general.architecture"));
  ASSERT_EQ(folder->tensors().size(), file->tensors().size());
  for (const gguf::Tensor& expected : file->tensors()) {
    const gguf::Tensor* tensor = folder->find_tensor(expected.name);
    ASSERT_NE(tensor, nullptr) << expected.name;
    EXPECT_EQ(tensor->shape, expected.shape) << expected.name;
    ASSERT_EQ(tensor->dtype, expected.dtype) << expected.name;
    EXPECT_LT(normalized_error(values_of(*folder, *tensor),
                               values_of(*file, expected)),
              1e-13)
        << expected.name;
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WrittenFolders);

INSTANTIATE_TEST_SUITE_P(
    Golden, WrittenFolders,
    ::testing::Combine(::testing::Values("reference", "cpu", "opencl",
                                         "vulkan"),
                       ::testing::ValuesIn(names_in(written_folders()))),
    folder_case_name);

}  // namespace
}  // namespace rc::test
