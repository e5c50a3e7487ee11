// Scripts for shells, in the shells that are there.
#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>

#include "cli/help_reader.h"
#include "temporary.h"

namespace rc::test {
namespace {

std::set<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::set<std::string> words;
  for (std::string word; in >> word;) words.insert(word);
  return words;
}

class CommandCompletion : public testing::Test {
 protected:
  // The file with the script for a shell.
  std::string script(const std::string& shell) const {
    const Outcome outcome = run({"completion", shell});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    std::string path = (folder_.path() / shell).string();
    std::ofstream(path) << outcome.out;
    return path;
  }

  // Returns the output of a shell for a script; empty without this shell.
  static std::string output_of(const std::string& shell,
                               const std::string& what) {
    const std::string command = "command -v " + shell + " >/dev/null && " +
                                shell + " -c '" + what + "'";
    FILE* pipe = popen(command.c_str(), "r");
    std::string text;
    char buffer[4096];
    while (size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) {
      text.append(buffer, n);
    }
    pclose(pipe);
    return text;
  }

  // Returns the completions for "runcible" and these words, the last of which
  // is incomplete.
  std::set<std::string> bash(const std::string& words, int last) const {
    return words_of(output_of(
        "bash", "source " + script("bash") + "; COMP_WORDS=(runcible " + words +
                    "); COMP_CWORD=" + std::to_string(last) +
                    "; _runcible; echo \"${COMPREPLY[@]}\""));
  }
  std::set<std::string> fish(const std::string& line) const {
    const std::string text = output_of("fish", "source " + script("fish") +
                                                   "; complete -C \"runcible " +
                                                   line + "\" | cut -f1");
    return words_of(text);
  }

  const TemporaryFolder folder_;
};

using Words = std::set<std::string>;

TEST_F(CommandCompletion, CompletesInBash) {
  if (bash("d", 1).empty()) GTEST_SKIP() << "there is no bash";
  EXPECT_EQ(bash("d", 1), (Words{"devices"}));
  EXPECT_EQ(bash("run --cache-t", 2), (Words{"--cache-type"}));
  EXPECT_EQ(bash("run --cache-d", 2), (Words{"--cache-dtype"}));
  EXPECT_EQ(bash("quantize --type Q4_K_", 3), (Words{"Q4_K_M", "Q4_K_S"}));
  EXPECT_EQ(bash("run --cache-type f", 3), (Words{"f16", "f32"}));
  EXPECT_EQ(bash("chat --thinking o", 3), (Words{"on", "off"}));
  EXPECT_EQ(bash("run --prompt x", 3), Words());
  EXPECT_EQ(bash("completion z", 2), (Words{"zsh"}));
  EXPECT_EQ(bash("help exit", 2), (Words{"exit-codes"}));
  EXPECT_EQ(bash("help typ", 2), (Words{"types"}));
  const std::string model = source_path("examples/model/fable.").string();
  EXPECT_EQ(bash("run " + model, 2), (Words{model + "gguf"}));
  EXPECT_EQ(bash("run --schema " + model, 3), (Words{model + "gguf"}));
}

TEST_F(CommandCompletion, CompletesInFish) {
  if (fish("d").empty()) GTEST_SKIP() << "there is no fish";
  EXPECT_EQ(fish("dev"), (Words{"devices"}));
  EXPECT_EQ(fish("run --cache-t"), (Words{"--cache-type"}));
  EXPECT_EQ(fish("run --cache-type f"), (Words{"f16", "f32"}));
  EXPECT_EQ(fish("chat --thinking o"), (Words{"on", "off"}));
  EXPECT_EQ(fish("completion z"), (Words{"zsh"}));
}

// zsh completes on a terminal only: that it can read the script must do.
TEST_F(CommandCompletion, LoadsInZsh) {
  if (output_of("zsh", "echo yes").empty()) GTEST_SKIP() << "there is no zsh";
  const std::string path = script("zsh");
  EXPECT_EQ(
      words_of(output_of("zsh", "autoload -U compinit; compinit -D; source " +
                                    path + "; echo $_comps[runcible]")),
      (Words{"_runcible"}));
}

TEST_F(CommandCompletion, HasEveryOption) {
  const std::string bash = run({"completion", "bash"}).out;
  const std::string zsh = run({"completion", "zsh"}).out;
  const std::string fish = run({"completion", "fish"}).out;
  size_t count = 0;
  for (const std::string& command : command_words()) {
    for (const HelpOption& option : help_options(command)) {
      for (const std::string& name : option.names) {
        if (name.rfind("--", 0) != 0) continue;
        ++count;
        EXPECT_NE(bash.find(name), std::string::npos) << name;
        EXPECT_NE(zsh.find(name), std::string::npos) << name;
        EXPECT_NE(fish.find(" -l " + name.substr(2)), std::string::npos)
            << name;
      }
    }
  }
  EXPECT_GT(count, 200u);
  expect_failure(run({"completion", "tcsh"}), 2, "tcsh");
  expect_failure(run({"completion"}), 2, "SHELL");
}

}  // namespace
}  // namespace rc::test
