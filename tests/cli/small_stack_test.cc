// Every subcommand in a process whose stack is limited to 64 KB.
#include <pty.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "cli/command.h"
#include "temporary.h"

namespace rc::test {
namespace {

using Arguments = std::vector<std::string>;

constexpr rlim_t kStackBytes = 64 << 10;

// The shell is replaced by the command, whose main thread begins with the
// limit.
Outcome run_in_small_stack(const Arguments& arguments,
                           const std::string& input) {
  const TemporaryFolder folder;
  const std::string in = (folder.path() / "in").string();
  const std::string out = (folder.path() / "out").string();
  const std::string err = (folder.path() / "err").string();
  std::ofstream(in) << input;
  std::string line = "ulimit -s " + std::to_string(kStackBytes >> 10) +
                     "; exec '" + RC_COMMAND + "'";
  for (const std::string& argument : arguments) line += " '" + argument + "'";
  line += " <'" + in + "' >'" + out + "' 2>'" + err + "'";
  const int status = std::system(line.c_str());
  const auto content = [](const std::string& path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  Outcome outcome;
  outcome.code =
      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.out = content(out);
  outcome.err = content(err);
  return outcome;
}

class CommandSmallStack : public testing::Test {
 protected:
  std::string path(const char* name) const {
    return (folder_.path() / name).string();
  }
  std::string write(const char* name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  static std::string golden(const char* name) {
    return source_path(std::string("tests/golden/") + name).string();
  }

  const TemporaryFolder folder_;
};

TEST_F(CommandSmallStack, EverySubcommandWorks) {
  const std::string fable = source_path("examples/model/fable.gguf").string();
  const std::string text = write("text", std::string(400, 'x'));
  const std::string messages =
      write("messages", R"([{"role": "user", "content": "hello"}])");
  const std::string lines = write("lines", "a spoon\nthe red fork\n");
  const std::map<std::string, Arguments> arguments = {
      {"run", {model(), "-n", "4", "--prompt-tokens", "1,2"}},
      {"chat", {fable, "--template", "zephyr", "-n", "4"}},
      {"devices", {}},
      {"inspect", {model()}},
      {"verify", {model()}},
      {"plan", {model()}},
      {"convert", {golden("folders/llama"), "-o", path("converted.gguf")}},
      {"quantize", {golden("folders/llama"), path("quantized.gguf"), "Q4_0"}},
      {"importance",
       {model(), text, "-o", path("importance"), "--context", "24"}},
      {"evaluate", {model(), text, "--context", "24"}},
      {"embed", {golden("embeddings/bert-mean"), "--input", lines}},
      {"rerank", {golden("embeddings/bert-cross"), "a", lines}},
      {"tokenize", {model(), "-p", "hello"}},
      {"template", {fable, "--template", "zephyr", "--messages", messages}},
      {"bench", {model(), "--prompts", "8", "--batches", "1", "-n", "2"}},
      {"explain", {"cpu"}},
      {"config", {}},
      {"calibrate", {"--help"}},
      {"pull", {"--help"}},
      {"models", {}},
      {"completion", {"bash"}},
      {"help", {"run"}},
  };
  // The command says which there are.
  std::string named = run({}).err;
  const std::string before = "the commands are ";
  ASSERT_NE(named.find(before), std::string::npos) << named;
  named = named.substr(named.find(before) + before.size());
  named = named.substr(0, named.find(" (see"));
  std::istringstream names(named);
  std::set<std::string> commands, known;
  for (std::string name; std::getline(names >> std::ws, name, ',');) {
    commands.insert(name);
  }
  for (const auto& [name, rest] : arguments) known.insert(name);
  ASSERT_EQ(commands, known);

  for (const auto& [name, rest] : arguments) {
    SCOPED_TRACE(name);
    Arguments all = {name};
    all.insert(all.end(), rest.begin(), rest.end());
    const Outcome outcome = run_in_small_stack(all, "hello\n");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const Outcome help = run_in_small_stack({name, "--help"}, "");
    EXPECT_EQ(help.code, 0) << help.err;
    EXPECT_NE(help.out, "");
  }
  for (const char* option : {"--help", "--version"}) {
    EXPECT_EQ(run_in_small_stack({option}, "").code, 0) << option;
  }
}

TEST_F(CommandSmallStack, FailuresAreErrors) {
  for (const Arguments& wrong : {Arguments{},
                                 {"talk"},
                                 {"run", "no/such.gguf"},
                                 {"pull", "hf:o/m"},
                                 {"calibrate", "quantum"},
                                 {"run", model(), "--temp", "hot"}}) {
    const Outcome outcome = run_in_small_stack(wrong, "");
    EXPECT_GT(outcome.code, 1) << outcome.err;
    EXPECT_LT(outcome.code, 127) << outcome.err;
    EXPECT_EQ(outcome.err.rfind("runcible: ", 0), 0u) << outcome.err;
  }
}

// The editing of lines, which only terminals have.
TEST_F(CommandSmallStack, ChatEditsLinesOnATerminal) {
  const std::string fable = source_path("examples/model/fable.gguf").string();
  int terminal = -1;
  const pid_t process = forkpty(&terminal, nullptr, nullptr, nullptr);
  ASSERT_GE(process, 0);
  if (process == 0) {
    const rlimit limit = {kStackBytes, kStackBytes};
    setrlimit(RLIMIT_STACK, &limit);
    execl(RC_COMMAND, RC_COMMAND, "chat", fable.c_str(), "--template", "zephyr",
          "-n", "4", nullptr);
    _exit(127);
  }
  const std::string typed = "hello\x01\x05!\n/quit\n";
  EXPECT_EQ(::write(terminal, typed.data(), typed.size()),
            static_cast<ssize_t>(typed.size()));
  std::string shown;
  char bytes[4096];
  ssize_t count = 0;
  while ((count = read(terminal, bytes, sizeof bytes)) > 0) {
    shown.append(bytes, static_cast<size_t>(count));
  }
  int status = 0;
  waitpid(process, &status, 0);
  close(terminal);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status << "\n"
                                                             << shown;
}

}  // namespace
}  // namespace rc::test
