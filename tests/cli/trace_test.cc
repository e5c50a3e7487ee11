// Traces of what was computed.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/command.h"

namespace rc::test {
namespace {

using Json = nlohmann::json;

// Every op of a trace is identified by its layer and its weight.
void expect_names(const std::string& file) {
  std::ifstream written(file);
  ASSERT_TRUE(written) << file;
  const Json trace = Json::parse(written);
  std::set<std::string> parts, weights;
  size_t ops = 0;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    ++ops;
    const std::string part = event["args"]["part"];
    const std::string weight = event["args"]["weight"];
    EXPECT_NE(part, "") << event;
    if (event["name"] == "LINEAR" || event["name"] == "RMS_NORM") {
      EXPECT_NE(weight, "") << event;
      // A layer's ops have the layer's weights.
      if (part.rfind("blk.", 0) == 0) {
        EXPECT_EQ(weight.rfind(part + ".", 0), 0u) << event;
      }
    }
    parts.insert(part);
    weights.insert(weight);
  }
  EXPECT_GT(ops, 20u);
  for (const char* part : {"embedding", "blk.0", "blk.1", "output"}) {
    EXPECT_EQ(parts.count(part), 1u) << part;
  }
  for (const char* weight :
       {"token_embd.weight", "blk.1.attn_q.weight", "blk.0.ffn_down.weight",
        "blk.1.attn_norm.weight", "output_norm.weight", ""}) {
    EXPECT_EQ(weights.count(weight), 1u) << weight;
  }
}

TEST(CommandTrace, WritesATraceOfARun) {
  const std::string file =
      testing::TempDir() + "runcible-run-" + std::to_string(getpid()) + ".json";
  const std::vector<std::string> common = {
      "run", model(), "-p", "hello", "-n", "3", "--ignore-eos"};
  const auto traced = [&](const char* chain) {
    auto arguments = common;
    arguments.insert(arguments.end(),
                     {"--backend", chain, "--trace", file, "--force"});
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("trace: " + file + ", "), std::string::npos)
        << outcome.err;
    return outcome.err;
  };
  EXPECT_EQ(traced("cpu").find("without ops"), std::string::npos);
  expect_names(file);
  // A backend that measures nothing.
  EXPECT_NE(traced("reference").find("without ops"), std::string::npos);
  std::filesystem::remove(file);
  auto nowhere = common;
  nowhere.insert(nowhere.end(), {"--trace", "no/such/folder/file"});
  expect_failure(run(nowhere), 3, "no/such/folder");
}

TEST(CommandTrace, EnvironmentEnablesTracing) {
  const std::filesystem::path folder =
      testing::TempDir() + "runcible_trace_" + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"run", model(), "-p", "hello", "-n", "3",
                                 "--ignore-eos", "--backend", "cpu"},
        std::vector<std::string>{"bench", model(), "--prompts", "8",
                                 "--batches", "1", "-n", "2", "--repetitions",
                                 "1", "--backend", "cpu"}}) {
    setenv("RUNCIBLE_PROFILE", "1", 1);
    const Outcome outcome = run(arguments);
    setenv("RUNCIBLE_PROFILE", "0", 1);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      files.push_back(entry.path().filename());
    }
    ASSERT_EQ(files.size(), 1u) << outcome.err;
    EXPECT_NE(outcome.err.find("trace: " + files[0].string()),
              std::string::npos)
        << outcome.err;
    expect_names(folder / files[0]);
    std::filesystem::remove(folder / files[0]);
    EXPECT_EQ(run(arguments).code, 0);
    EXPECT_TRUE(std::filesystem::is_empty(folder));
    unsetenv("RUNCIBLE_PROFILE");
  }
  std::filesystem::current_path(before);
  std::filesystem::remove_all(folder);
}

TEST(CommandTrace, BenchesWithATrace) {
  const std::filesystem::path folder = testing::TempDir();
  const std::string file = (folder / "runcible-trace.json").string();
  const std::vector<std::string> common = {
      "bench",     model(), "--backend", "cpu", "--prompts",     "8",
      "--batches", "1",     "-n",        "4",   "--repetitions", "1",
      "--trace"};
  const auto with = [&](const std::string& trace) {
    std::vector<std::string> arguments = common;
    arguments.push_back(trace);
    return run(arguments);
  };
  const Outcome outcome = with(file);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("GFLOP/s"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("cpu:0        LINEAR"), std::string::npos)
      << outcome.out;
  std::ifstream written(file);
  EXPECT_GT(Json::parse(written)["traceEvents"].size(), 20u);
  std::filesystem::remove(file);
  expect_failure(with((folder / "none" / "trace.json").string()), 3, "none");
}

}  // namespace
}  // namespace rc::test
