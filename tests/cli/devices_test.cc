// Reports of the commands on devices, and on the memory that models take there.
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "test_data.h"

namespace rc::test {
namespace {

using Json = nlohmann::json;

TEST(CommandDevices, ListsDevices) {
  const Outcome text = run({"devices"});
  EXPECT_EQ(text.code, 0);
  EXPECT_NE(text.out.find("reference:0"), std::string::npos);
  EXPECT_NE(text.out.find("auto: "), std::string::npos);
  const Json json = Json::parse(run({"devices", "--json"}).out);
  EXPECT_GE(json["devices"].size(), 1u);
  // Instructions of the processor, as the kernel names them.
  std::ifstream processor("/proc/cpuinfo");
  std::string known;
  for (std::string line; std::getline(processor, line);) {
    if (line.rfind("flags", 0) == 0 || line.rfind("Features", 0) == 0) {
      known = line + " ";
      break;
    }
  }
  const auto has = [&](const std::string& flag) {
    return known.find(" " + flag + " ") != known.npos;
  };
  for (const Json& device : json["devices"]) {
    if (device["backend"] != "cpu") continue;
    EXPECT_EQ(device["fp64"], true);
    EXPECT_EQ(device["fp16"], has("avx512_fp16") || has("asimdhp"));
    EXPECT_EQ(device["bf16"], has("avx512_bf16") || has("bf16"));
    EXPECT_EQ(device["int8_dot"],
              has("avx512_vnni") || has("avx_vnni") || has("asimddp"));
  }
  EXPECT_NE(json["auto"], "");
  // Backends that users ask for are listed, with what to do.
  for (const std::string name : {"cuda", "rocm", "metal"}) {
    bool listed = false;
    for (const Json& device : json["devices"]) {
      if (device["backend"] != name) continue;
      listed = device["available"].get<bool>() || device["reason"] != "";
    }
    EXPECT_TRUE(listed) << name;
    EXPECT_NE(text.out.find(name + ": "), std::string::npos) << text.out;
    const Outcome opened = run({"explain", name});
    // Modules are built or not, and have a device where there is a driver.
    if (name != "metal" || opened.code == 0) continue;
    expect_failure(opened, 6,
                   name + ": this version of Runcible has no backend");
    EXPECT_NE(opened.err.find("; use "), std::string::npos) << opened.err;
  }
}

TEST(CommandDevices, ExplainsASpecAndAModel) {
  const std::string spec = run({"explain", "quantum,reference"}).out;
  EXPECT_NE(spec.find("chosen      reference:0"), std::string::npos) << spec;
  EXPECT_NE(spec.find("passed over quantum: "), std::string::npos) << spec;
  EXPECT_NE(spec.find("tensors     on reference:0"), std::string::npos) << spec;
  const std::string both = run({"explain", "reference:0", model()}).out;
  EXPECT_NE(both.find("chosen      reference:0"), std::string::npos) << both;
  EXPECT_NE(both.find("  on reference:0: layers"), std::string::npos) << both;
  EXPECT_EQ(run({"explain", model(), "--backend", "reference:0"}).out, both);
  EXPECT_EQ(run({"explain", "reference:0", "-m", model()}).out, both);
  expect_failure(run({"explain", "reference", "--backend", "cpu"}), 2,
                 "--backend");
  expect_failure(run({"explain", "cpu:x"}), 3, "cpu:x");
  expect_failure(run({"explain", model(), "cpu"}), 2, model());
}

TEST(CommandDevices, TestsDevices) {
  const Outcome text = run({"devices", "--self-test", "reference"});
  EXPECT_EQ(text.code, 0);
  EXPECT_NE(text.out.find("reference:0: "), std::string::npos) << text.out;
  EXPECT_NE(text.out.find(" tests passed, 0 failed, 0 skipped as unsupported"),
            std::string::npos)
      << text.out;
  const Json json =
      Json::parse(run({"devices", "--self-test", "reference", "--json"}).out);
  EXPECT_EQ(json["devices"][0]["tests"][0]["outcome"], "passed");
  expect_failure(run({"devices", "--self-test", "quantum"}), 3, "quantum");
  expect_failure(
      run({"devices", "--self-test", "cpu", "--forget-quarantine", "cpu"}), 2,
      "--forget-quarantine");
}

TEST(CommandDevices, LiftsQuarantines) {
  EXPECT_EQ(run({"devices", "--forget-quarantine", "cpu"}).out,
            "The quarantine of 0 devices and modules is lifted.\n");
  const Json json =
      Json::parse(run({"devices", "--forget-quarantine", "cpu", "--json"}).out);
  EXPECT_EQ(json["lifted"], 0);
  expect_failure(run({"devices", "--forget-quarantine", "quantum"}), 3,
                 "quantum");
}

// The plan of a file without the file.
TEST(CommandDevices, EstimatesModels) {
  const std::string given =
      R"({"architecture": "llama", "vocab_size": 300, "context_length": 64,
          "block_count": 2, "embedding_length": 64, "feed_forward_length": 128,
          "attention.head_count": 4, "attention.layer_norm_rms_epsilon": 1e-5})";
  const auto weights_of = [&](const char* type) {
    const Outcome made = run({"plan", "--estimate", given, "--type", type,
                              "--json", "--backend", "reference"});
    EXPECT_EQ(made.code, 0) << made.err;
    return Json::parse(made.out)["weights"].get<uint64_t>();
  };
  // An embedding of 300 x 64; in two layers four matrices of 64 x 64, three of
  // 64 x 128 and two norms of 64; a norm, and 8 rotary frequencies.
  const uint64_t matrices = 300 * 64 + 2 * (4 * 64 * 64 + 3 * 64 * 128);
  const uint64_t norms = (5 * 64 + 8) * 4;
  EXPECT_EQ(weights_of("F32"), matrices * 4 + norms);
  EXPECT_EQ(weights_of("f16"), matrices * 2 + norms);
  EXPECT_EQ(weights_of("Q8_0"), matrices / 32 * 34 + norms);
  expect_failure(run({"plan", "--estimate", "{}"}), 2, "architecture");
  expect_failure(run({"plan", "--estimate", "no/such/file"}), 3,
                 "no/such/file");
  expect_failure(run({"plan", model(), "--estimate", "{}"}), 2, "--estimate");
  expect_failure(run({"plan", model(), "--type", "F16"}), 2, "--estimate");
}

TEST(CommandDevices, PlansMemory) {
  EXPECT_NE(run({"plan", model()}).out.find("weights"), std::string::npos);
  const Json json =
      Json::parse(run({"plan", model(), "--json", "--context", "32"}).out);
  EXPECT_EQ(json["context_length"], 32);
  EXPECT_EQ(json["total"], json["weights"].get<uint64_t>() +
                               json["cache"].get<uint64_t>() +
                               json["scratch"].get<uint64_t>());
  ASSERT_EQ(json["devices"].size(), 1u);
  EXPECT_EQ(json["devices"][0]["total"], json["total"]);
  EXPECT_TRUE(json["devices"][0]["output"]);
}

TEST(CommandDevices, WarnsOfContextBeyondTheTrainedLength) {
  const std::string few[] = {"--context", "2048"};
  const std::string many[] = {"--context", "2049"};
  const std::vector<std::string> commands[] = {
      {"plan", model()},
      {"plan", model(), "--json"},
      {"run", model(), "-p", "a", "-n", "1"},
      {"bench", model(), "--prompts", "8", "--batches", "1", "-n", "2",
       "--repetitions", "1"}};
  for (const std::vector<std::string>& command : commands) {
    SCOPED_TRACE(command[0]);
    const auto warned = [&](const std::string(&context)[2]) {
      std::vector<std::string> arguments = command;
      arguments.insert(arguments.end(), context, context + 2);
      const Outcome outcome = run(arguments);
      EXPECT_EQ(outcome.code, 0) << outcome.err;
      return outcome.err.find(
                 "warning: a context of 2049 tokens, but the "
                 "model was trained for 2048") != std::string::npos;
    };
    EXPECT_FALSE(warned(few));
    EXPECT_TRUE(warned(many));
  }
}

TEST(CommandDevices, PlansExpertsOnAnotherDevice) {
  const std::string mixture =
      rc::test::source_path("tests/golden/architectures/qwen3moe.gguf");
  const std::vector<std::string> arguments = {
      "plan", mixture, "--backend", "reference", "--experts-on", "cpu"};
  const std::string text = run(arguments).out;
  EXPECT_NE(text.find("cpu:0: experts of 2 layers\n"), std::string::npos)
      << text;
  auto with_json = arguments;
  with_json.push_back("--json");
  const Json json = Json::parse(run(with_json).out);
  ASSERT_EQ(json["devices"].size(), 2u);
  EXPECT_FALSE(json["devices"][0]["experts"]);
  EXPECT_TRUE(json["devices"][1]["experts"]);
  with_json.insert(with_json.end(), {"--experts-on-layers", "1"});
  const Json last = Json::parse(run(with_json).out);
  EXPECT_EQ(last["devices"][1]["expert_layers"], 1);
  EXPECT_LT(last["devices"][1]["weights"], json["devices"][1]["weights"]);
  expect_failure(run({"plan", mixture, "--experts-on", "moon"}), 2,
                 "experts-on is 'moon', but it can be \"cpu\" or one of");
  expect_failure(run({"plan", mixture, "--experts-on-layers", "1"}), 2,
                 "--experts-on");
}

TEST(CommandDevices, PlansWhatFits) {
  const std::string mixture =
      R"({"architecture": "qwen3moe", "vocab_size": 3000, "context_length": 64,
          "block_count": 2, "embedding_length": 64, "feed_forward_length": 128,
          "expert_feed_forward_length": 64, "expert_count": 8,
          "expert_used_count": 2, "attention.head_count": 2,
          "attention.layer_norm_rms_epsilon": 1e-5})";
  const auto planned = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(),
                     {"plan", "--estimate", mixture, "--json"});
    const Outcome made = run(arguments);
    EXPECT_EQ(made.code, 0) << made.err;
    return Json::parse(made.out);
  };
  const Json all = planned({"--backend", "reference"});
  EXPECT_EQ(all["cache_dtype"], "F16");
  // With a cache for one session.
  const uint64_t least =
      all["weights"].get<uint64_t>() + all["scratch"].get<uint64_t>() +
      all["cache"].get<uint64_t>() * 64 / all["cache_tokens"].get<uint64_t>();
  const auto fitted = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--context", "64", "--memory-limit",
                                       std::to_string(least - 1), "--fit"});
    return planned(std::move(arguments));
  };
  const Json both = fitted({"--backend", "reference,cpu"});
  EXPECT_TRUE(both["fits"]);
  ASSERT_EQ(both["devices"].size(), 2u);
  EXPECT_EQ(both["devices"][0]["layers"], 2);
  EXPECT_EQ(both["devices"][1]["layers"], 0);
  EXPECT_EQ(both["devices"][1]["expert_layers"], 1);
  // The type of the cache: only if it is not given.
  const Json alone = fitted({"--backend", "reference"});
  EXPECT_TRUE(alone["fits"]);
  EXPECT_EQ(alone["cache_dtype"], "Q8_0");
  const Json given = fitted({"--backend", "reference", "--cache-dtype", "f16"});
  EXPECT_FALSE(given["fits"]);
}

TEST(CommandDevices, PlansForSeveralDevices) {
  const std::string limit =
      std::to_string(Json::parse(run({"plan", model(), "--json"}).out)["total"]
                         .get<uint64_t>() /
                     2);
  const std::vector<std::string> arguments = {
      "plan",      model(), "--backend",      "reference,cpu",
      "--context", "64",    "--memory-limit", limit};
  auto with_json = arguments;
  with_json.push_back("--json");
  const Json json = Json::parse(run(with_json).out);
  uint64_t total = 0;
  for (const Json& device : json["devices"]) {
    total += device["total"].get<uint64_t>();
  }
  EXPECT_EQ(json["total"], total);
}

}  // namespace
}  // namespace rc::test
