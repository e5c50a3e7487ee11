// Evaluating and measuring importance on the command line.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "command.h"
#include "temporary.h"

namespace rc::test {
namespace {

namespace fs = std::filesystem;

std::string evaluation(const char* name) {
  return source_path(std::string("tests/golden/evaluation/") + name).string();
}

TEST(CommandEvaluate, PrintsATable) {
  const Outcome outcome =
      run({"evaluate", model(), evaluation("text.txt"), "--context", "40",
           "--backend", "reference", "--cache-type", "f32", "--choices",
           evaluation("choices.jsonl"), "--against", model()});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* line :
       {"40 tokens, 95 scored", "perplexity                  5260.8",
        "KL divergence               0.000000 +- 0.000000",
        "same most probable token    100.00 +- 0.00 %",
        "accuracy                    40.00 +- 7.84 %",
        "accuracy by length          30.00 +- 7.34 %"}) {
    EXPECT_NE(outcome.out.find(line), std::string::npos) << outcome.out;
  }
}

TEST(CommandEvaluate, PrintsJson) {
  const Outcome outcome =
      run({"evaluate", "-m", model(), evaluation("text.txt"), "--context", "40",
           "--stride", "20", "--windows", "3", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["text"]["windows"], 3);
  EXPECT_EQ(json["text"]["tokens"], 60);
  EXPECT_GT(json["text"]["perplexity"]["value"], 1.0);
  EXPECT_FALSE(json.contains("against"));
  EXPECT_FALSE(json.contains("choices"));
}

TEST(CommandEvaluate, ComparesBackends) {
  const Outcome outcome =
      run({"evaluate", model(), evaluation("text.txt"), "--context", "40",
           "--backend", "cpu", "--against-backend", "reference", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  const auto& against = json["against"];
  EXPECT_EQ(against["bytes"], json["bytes"]);
  EXPECT_LT(against["divergence_max"], 1e-3);
  EXPECT_GT(against["agreement"]["value"], 0.95);
}

// The divergence of devices that the README promises, on the recorded fables of
// transformers.
class CommandEvaluateDevices
    : public testing::TestWithParam<std::pair<const char*, double>> {};

TEST_P(CommandEvaluateDevices, DivergenceFromTheReferenceIsAsDocumented) {
  const auto [backend, most] = GetParam();
  const TemporaryFolder folder;
  const fs::path text = folder.path() / "fables.txt";
  std::ifstream recorded(source_path("tests/golden/fable/fable.json"));
  std::ofstream file(text);
  const auto fables = nlohmann::json::parse(recorded);
  for (const auto& fable : fables["texts"]) {
    file << fable["text"].get<std::string>() << "\n";
  }
  file.close();
  const Outcome outcome =
      run({"evaluate", "builtin:fable", text.string(), "--context", "128",
           "--backend", backend, "--against-backend", "reference", "--json"});
  if (outcome.code == 6) GTEST_SKIP() << outcome.err;
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_GT(json["text"]["tokens"], 100);
  EXPECT_LE(json["against"]["divergence"]["value"], most);
  EXPECT_NEAR(json["against"]["perplexity_ratio"]["value"], 1, 10 * most);
}

INSTANTIATE_TEST_SUITE_P(
    All, CommandEvaluateDevices,
    testing::Values(std::pair("cpu", 1e-3), std::pair("opencl", 1e-6),
                    std::pair("vulkan", 1e-6), std::pair("webgpu", 1e-6)),
    [](const auto& info) { return std::string(info.param.first); });

TEST(CommandEvaluate, ComparesQuantizedWithOriginalWeights) {
  const Outcome outcome =
      run({"evaluate", "builtin:fable", evaluation("text.txt"), "--context",
           "40", "--quantize", "Q4_0", "--against", "builtin:fable", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_GT(json["against"]["divergence"]["value"], 1e-5);
}

TEST(CommandEvaluate, ErrorsNameTheArgument) {
  const std::string text = evaluation("text.txt");
  expect_failure(run({"evaluate"}), 2, "no MODEL is given");
  expect_failure(run({"evaluate", model()}), 2, "nothing to evaluate on");
  expect_failure(
      run({"evaluate", model(), "--choices", text, "--against", model()}), 2,
      "no TEXT is given");
  expect_failure(run({"evaluate", model(), "--choices", text,
                      "--against-backend", "reference"}),
                 2, "--against-backend compares on a text");
  expect_failure(run({"evaluate", model(), text}), 2, "too short");
  expect_failure(
      run({"evaluate", source_path("tests/golden/folders/llama").string(),
           text}),
      5, "has no tokenizer, so it cannot be measured");
  expect_failure(run({"evaluate", model(), "/no/such"}), 3, "/no/such");
  expect_failure(run({"evaluate", model(), "--choices", text}), 4,
                 text + ", line 1");
  expect_failure(run({"evaluate", model(), text, "--context", "40", "--against",
                      "builtin:fable"}),
                 2, "different vocabularies");
}

TEST(CommandImportance, WritesAFile) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "out.gguf").string();
  const std::string text = evaluation("text.txt");
  const Outcome outcome =
      run({"importance", model(), text, "-o", path, "--context", "24"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.rfind("15 tensors, 8 windows of 24 tokens, ", 0), 0u)
      << outcome.out;
  EXPECT_NE(run({"inspect", path}).out.find("blk.1.ffn_down.weight.in_sum2"),
            std::string::npos);
  expect_failure(run({"importance", model(), text}), 2, "--output");
  expect_failure(run({"importance", model(), "-o", path}), 2, "no TEXT");
  expect_failure(run({"importance", model(), text, "-o", "/no/such/x"}), 2,
                 "too short");
}

}  // namespace
}  // namespace rc::test
