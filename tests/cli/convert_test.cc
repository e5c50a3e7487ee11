// Folders on the command line, and what becomes of them.
#include <filesystem>

#include "command.h"
#include "temporary.h"

namespace rc::test {
namespace {

TEST(CommandConvert, FoldersAreAcceptedAsModels) {
  EXPECT_EQ(run({"verify", model_folder("mixtral")}).out,
            model_folder("mixtral") + ": sound\n");
  const Outcome inspected = run({"inspect", model_folder("mixtral")});
  EXPECT_NE(inspected.out.find("blk.1.ffn_gate_exps.weight"),
            std::string::npos);
  EXPECT_EQ(run({"plan", model_folder("mixtral"), "--backend", "cpu"}).code, 0);
  expect_failure(run({"verify", source_path("tests/golden").string()}), 3,
                 "config.json");
}

TEST(CommandConvert, WritesAFile) {
  const TemporaryFolder target;
  const std::string path = (target.path() / "out.gguf").string();
  const Outcome outcome =
      run({"convert", model_folder("llama"), "-o", path, "--type", "q8_0"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.find(path + ": "), 0u) << outcome.out;
  EXPECT_EQ(run({"verify", path}).out, path + ": sound\n");
  EXPECT_NE(run({"inspect", path}).out.find("Q8_0     [32, 32]"),
            std::string::npos);
}

TEST(CommandQuantize, WritesAFile) {
  const TemporaryFolder target;
  const std::string path = (target.path() / "out.gguf").string();
  const Outcome outcome =
      run({"quantize", model_folder("llama"), path, "q4_k_m", "--threads", "2",
           "--tensor", "attn_q=Q8_0", "--tensor", "attn_k=Q5_1"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.find(path + ": "), 0u) << outcome.out;
  EXPECT_NE(outcome.out.find(" bits per weight\n"), std::string::npos)
      << outcome.out;
  EXPECT_EQ(run({"verify", path}).out, path + ": sound\n");
  const std::string shown = run({"inspect", path}).out;
  EXPECT_NE(shown.find("Q8_0     [32, 32]"), std::string::npos);
  EXPECT_NE(shown.find("Q5_1"), std::string::npos);
}

TEST(CommandQuantize, ModelsAreQuantizedWhileTheyLoad) {
  const TemporaryFolder target;
  const std::string path = (target.path() / "out.gguf").string();
  ASSERT_EQ(run({"quantize", model_folder("llama"), path, "Q4_0"}).code, 0);
  const auto planned = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"plan", "--backend", "cpu", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const size_t at = outcome.out.find("\"weights\"");
    EXPECT_NE(at, std::string::npos) << outcome.out;
    return outcome.out.substr(at, outcome.out.find('\n', at) - at);
  };
  EXPECT_EQ(planned({model_folder("llama"), "--quantize", "q4_0"}),
            planned({path}));
  EXPECT_NE(planned({model_folder("llama")}), planned({path}));
  expect_failure(run({"run", model_folder("llama"), "--quantize", "Q4_X"}), 2,
                 "Q4_X");
  expect_failure(run({"run", model_folder("llama"), "--quantize", "Q4_0",
                      "--keep-mapped"}),
                 2, "--keep-mapped");
}

// Both take the same words in the same places, and options in their place.
TEST(CommandQuantize, TakesTheArgumentsOfConvert) {
  const TemporaryFolder target;
  const std::string path = (target.path() / "out.gguf").string();
  for (const std::string command : {"convert", "quantize"}) {
    std::string sizes;
    const std::vector<std::vector<std::string>> forms = {
        {model_folder("llama"), path, "Q8_0"},
        {model_folder("llama"), path, "--type", "Q8_0"},
        {model_folder("llama"), "-o", path, "--type", "q8_0"},
        {"-m", model_folder("llama"), path, "Q8_0"},
        {"--type", "Q8_0", "--output", path, "--model", model_folder("llama")}};
    for (std::vector<std::string> words : forms) {
      std::filesystem::remove(path);
      words.insert(words.begin(), command);
      const Outcome outcome = run(words);
      EXPECT_EQ(outcome.code, 0) << outcome.err;
      if (sizes.empty()) sizes = outcome.out;
      EXPECT_EQ(outcome.out, sizes);
      EXPECT_EQ(run({"verify", path}).code, 0);
    }
  }
}

TEST(CommandQuantize, ErrorsNameTheArgument) {
  const TemporaryFolder target;
  const std::string path = (target.path() / "out.gguf").string();
  expect_failure(run({"quantize", model_folder("llama"), path}), 2, "TYPE");
  expect_failure(run({"quantize", model_folder("llama"), path, "Q4_K_X"}), 2,
                 "Q4_K_X");
  expect_failure(
      run({"quantize", model_folder("llama"), path, "Q8_0", "--tensor", "x"}),
      2, "REGEX=TYPE");
  expect_failure(run({"quantize", model_folder("llama"), path, "Q8_0",
                      "--importance", "/no/such"}),
                 3, "/no/such");
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(CommandConvert, ErrorsNameTheArgument) {
  const TemporaryFolder target;
  const std::string path = (target.path() / "out.gguf").string();
  expect_failure(run({"convert", model_folder("llama")}), 2, "--output");
  expect_failure(run({"convert", "-o", path}), 2, "no INPUT is given");
  expect_failure(
      run({"convert", model_folder("llama"), "-o", path, "--type", "Q3"}), 2,
      "Q3");
  expect_failure(run({"convert", model_folder("llama"), "-o", path + "/x/y"}),
                 3, path);
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace rc::test
