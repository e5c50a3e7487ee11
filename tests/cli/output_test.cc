// Files that commands write: none is overwritten unless --force says so, and
// none that is read.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "cli/command.h"
#include "temporary.h"

namespace rc::test {
namespace {

namespace fs = std::filesystem;

class CommandOutput : public ::testing::Test {
 protected:
  std::string file(const char* name, const std::string& text = "") const {
    const std::string path = (folder_.path() / name).string();
    if (!text.empty()) std::ofstream(path) << text;
    return path;
  }

  const TemporaryFolder folder_;
};

TEST_F(CommandOutput, IsNotOverwrittenUnlessForced) {
  const std::string out = file("out.gguf");
  const std::string text = source_path("README.md").string();
  const std::string bert =
      source_path("tests/golden/embeddings/bert-mean").string();
  const std::string lines = file("lines.txt", "a spoon\n");
  const std::vector<std::vector<std::string>> commands = {
      {"convert", model(), out},
      {"quantize", model(), out, "Q8_0"},
      {"importance", model(), text, "-o", out, "--windows", "1"},
      {"embed", bert, "--input", lines, "-o", out},
      {"run", model(), "-n", "1", "--raw-logits", out},
      {"run", model(), "-n", "1", "--trace", out},
      {"bench", model(), "--prompts", "8", "--batches", "1", "-n", "2",
       "--repetitions", "1", "--trace", out}};
  for (std::vector<std::string> words : commands) {
    std::ofstream(out) << "precious";
    expect_failure(run(words), 3, "--force");
    EXPECT_EQ(content(out), "precious") << words[0];
    words.emplace_back("--force");
    const Outcome forced = run(words);
    EXPECT_EQ(forced.code, 0) << words[0] << ": " << forced.err;
    EXPECT_NE(content(out), "precious") << words[0];
    fs::remove(out);
    words.pop_back();
    EXPECT_EQ(run(words).code, 0) << words[0];
    // A link to a file that is not there is a file all the same.
    fs::remove(out);
    fs::create_symlink(file("nowhere"), out);
    expect_failure(run(words), 3, "--force");
    EXPECT_TRUE(fs::is_symlink(out)) << words[0];
    fs::remove(out);
    fs::create_directory(out);
    expect_failure(run(words), 3, "is a folder");
    fs::remove(out);
  }
}

// Not even by --force, and by whatever name.
TEST_F(CommandOutput, IsNeverTheInput) {
  fs::create_directory(folder_.path() / "model");
  for (const auto& each : fs::directory_iterator(model_folder("llama"))) {
    fs::copy(each.path(), folder_.path() / "model" / each.path().filename());
  }
  const std::string in_folder = file("model");
  const std::string input = file("in.gguf");
  fs::copy(model(), input);
  fs::create_symlink(input, file("link.gguf"));
  fs::create_hard_link(input, file("hard.gguf"));
  const std::string shard = in_folder + "/model-00002-of-00004.safetensors";
  fs::create_hard_link(shard, file("shard.gguf"));
  const std::string before = content(input);
  const std::string shard_before = content(shard);
  struct Case {
    std::string input, output;
  };
  const std::vector<Case> cases = {{input, input},
                                   {input, file(".") + "/in.gguf"},
                                   {input, file("link.gguf")},
                                   {input, file("hard.gguf")},
                                   {file("link.gguf"), input},
                                   {file("hard.gguf"), file("link.gguf")},
                                   {in_folder, shard},
                                   {in_folder, in_folder + "/config.json"},
                                   {in_folder, file("shard.gguf")}};
  for (const Case& each : cases) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"convert", each.input, each.output,
                                   "--force"},
          std::vector<std::string>{"quantize", each.input, each.output, "Q8_0",
                                   "--force"},
          std::vector<std::string>{"run", each.input, "-n", "1", "--raw-logits",
                                   each.output, "--force"},
          std::vector<std::string>{"run", each.input, "-n", "1", "--trace",
                                   each.output, "--force"}}) {
      expect_failure(run(words), 2, "would overwrite the input");
    }
  }
  EXPECT_EQ(content(input), before);
  EXPECT_EQ(content(shard), shard_before);
  // The parts of a model in several files are read together.
  const std::string first = file("m-00001-of-00002.gguf", "x");
  const std::string second = file("m-00002-of-00002.gguf", "y");
  expect_failure(run({"convert", first, second, "--force"}), 2,
                 "would overwrite the input");
  // Other inputs than the model.
  const std::string lines = file("lines.txt", "a spoon\n");
  expect_failure(
      run({"embed", source_path("tests/golden/embeddings/bert-mean").string(),
           "--input", lines, "-o", lines, "--force"}),
      2, "would overwrite the input");
  expect_failure(run({"importance", model(), lines, "-o", lines, "--force"}), 2,
                 "would overwrite the input");
  EXPECT_EQ(content(lines), "a spoon\n");
}

// Devices and pipes are written through, but never replaced by a file.
TEST_F(CommandOutput, DevicesAndPipesAreNotReplaced) {
  const std::string pipe = file("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  expect_failure(run({"convert", model(), pipe, "--force"}), 3,
                 "not a regular file");
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_EQ(run({"run", model(), "-n", "1", "--trace", "/dev/null"}).code, 0);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

}  // namespace
}  // namespace rc::test
