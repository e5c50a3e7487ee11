// Logits against those that other implementations recorded.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>

#include "base/error.h"
#include "model/model_util.h"
#include "test_data.h"

namespace rc::test {
namespace {

std::vector<int32_t> tokens_of_run(const std::filesystem::path& path) {
  const auto json = nlohmann::json::parse(std::ifstream(path));
  std::vector<int32_t> tokens;
  for (const auto& step : json.at("steps")) tokens.push_back(step.at("in"));
  return tokens;
}

// The files of quantized models record fewer logits than steps.
void expect_logits(const std::filesystem::path& model,
                   const std::filesystem::path& golden, const std::string& name,
                   const std::string& backend, double tolerance) {
  const auto resident = load(model::ModelFile::open(model), backend);
  const std::vector<float> expected =
      read_floats(golden / (name + ".logits.f32"));
  std::vector<int32_t> tokens = tokens_of_run(golden / (name + ".json"));
  const size_t rows = expected.size() / 512;
  ASSERT_GE(rows, 32u);
  ASSERT_LE(rows, tokens.size());
  tokens.resize(rows);
  const double error = normalized_error(evaluate(*resident, tokens), expected);
  EXPECT_LT(error, tolerance);
  ::testing::Test::RecordProperty("error", cat(error));
}

using GoldenCase = std::tuple<std::string, const char*>;  // backend, name

std::string golden_case_name(const ::testing::TestParamInfo<GoldenCase>& info) {
  const auto& [backend, name] = info.param;
  return test_name(cat(backend, " ", name));
}

// Models of the larger collection are tested where it is; Fable everywhere.
std::vector<const char*> names_if_shared(const std::string& folder,
                                         std::vector<const char*> names) {
  if (shared_path(folder).empty()) names.clear();
  return names;
}

class Stories : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(Stories, LogitsMatchLlama2c) {
  const auto [backend, name] = GetParam();
  expect_logits(shared_path("models/stories260K/stories260K.gguf"),
                shared_path("golden/stories260K"), name, backend,
                backend == "reference" ? 1e-9 : 1e-7);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Stories);

INSTANTIATE_TEST_SUITE_P(Golden, Stories,
                         ::testing::Combine(::testing::ValuesIn(all_backends()),
                                            ::testing::ValuesIn(names_if_shared(
                                                "models/stories260K",
                                                {"prompt0", "prompt1",
                                                 "prompt2", "prompt3"}))),
                         golden_case_name);

class QuantizedStories : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(QuantizedStories, LogitsMatchDecodedWeights) {
  const auto [backend, name] = GetParam();
  // The cpu backend quantizes activations where weights are quantized.
  expect_logits(
      shared_path(cat("models/stories260K-quants/stories260K-", name, ".gguf")),
      shared_path("golden/stories260K-quants"), name, backend,
      backend == "reference" ? 1e-6 : 1e-3);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(QuantizedStories);

INSTANTIATE_TEST_SUITE_P(Golden, QuantizedStories,
                         ::testing::Combine(::testing::ValuesIn(all_backends()),
                                            ::testing::ValuesIn(names_if_shared(
                                                "models/stories260K-quants",
                                                {"F16", "BF16", "Q8_0", "Q4_0",
                                                 "Q5_1", "IQ4_NL"}))),
                         golden_case_name);

// The model of examples/model: its matrices are Q8_0, and the cpu backend
// quantizes activations where weights are quantized.
class Fable : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(Fable, LogitsMatchTransformers) {
  const auto [backend, name] = GetParam();
  const auto folder = source_path("tests/golden/fable");
  const auto json = nlohmann::json::parse(std::ifstream(folder / "fable.json"));
  std::vector<int32_t> tokens;
  for (const auto& prompt : json.at("prompts")) {
    if (prompt.at("name") == name) prompt.at("tokens").get_to(tokens);
  }
  tokens.resize(json.at("rows"));
  const auto resident =
      load(model::ModelFile::open(source_path("examples/model/fable.gguf")),
           backend);
  const double error =
      normalized_error(evaluate(*resident, tokens),
                       read_floats(folder / cat(name, ".logits.f32")));
  EXPECT_LT(error, backend == "reference" ? 1e-9 : 1e-3);
  RecordProperty("error", cat(error));
}

INSTANTIATE_TEST_SUITE_P(
    Golden, Fable,
    ::testing::Combine(::testing::ValuesIn(all_backends()),
                       ::testing::Values("nothing", "opening", "dialogue")),
    golden_case_name);

class Architectures
    : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(Architectures, LogitsMatchTransformers) {
  const auto [backend, name] = GetParam();
  const auto folder = source_path("tests/golden/architectures");
  const auto resident =
      load(model::ModelFile::open(folder / cat(name, ".gguf")), backend);
  const std::vector<float> actual = evaluate_case(*resident, name);
  const auto expected = read_floats(folder / cat(name, ".logits.f32"));
  const double error = relative_error(actual, expected);
  EXPECT_LT(error, 1e-4);
  EXPECT_LT(normalized_error(actual, expected),
            backend == "reference" ? 1e-9 : 1e-7);
  RecordProperty("error", cat(error));
}

INSTANTIATE_TEST_SUITE_P(
    Golden, Architectures,
    ::testing::Combine(::testing::ValuesIn(all_backends()),
                       ::testing::ValuesIn(golden_architectures())),
    [](const auto& info) {
      return test_name(
          cat(std::get<0>(info.param), " ", std::get<1>(info.param)));
    });

}  // namespace
}  // namespace rc::test
