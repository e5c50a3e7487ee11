// The runcible command, run as anybody would: output, messages, exit codes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "temporary.h"
#include "test_data.h"

namespace rc::test {
namespace {

using Json = nlohmann::json;

struct Outcome {
  int code = -1;  // 128 + signal if one ended it
  std::string out;
  std::string err;
};

// Whether the process is gone but for who should ask how it ended.
bool is_zombie(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  const size_t state = text.rfind(')');
  return state == std::string::npos || text.substr(state + 2, 1) == "Z";
}

std::string take_all(int descriptor) {
  std::string text;
  char buffer[4096];
  ssize_t n = 0;
  lseek(descriptor, 0, SEEK_SET);
  while ((n = read(descriptor, buffer, sizeof(buffer))) > 0) {
    text.append(buffer, static_cast<size_t>(n));
  }
  return text;
}

int temporary_file() {
  char name[] = "/tmp/runcible_command_XXXXXX";
  const int file = mkstemp(name);
  unlink(name);
  return file;
}

// A command under way; its output goes to files, so that it never blocks.
class Process {
 public:
  explicit Process(const std::vector<std::string>& arguments,
                   const std::string& input = "", int out = -1)
      : in_(temporary_file()),
        out_(out >= 0 ? out : temporary_file()),
        err_(temporary_file()) {
    EXPECT_EQ(write(in_, input.data(), input.size()),
              static_cast<ssize_t>(input.size()));
    lseek(in_, 0, SEEK_SET);
    std::vector<char*> argv = {const_cast<char*>(RC_COMMAND)};
    for (const std::string& argument : arguments) {
      argv.push_back(const_cast<char*>(argument.c_str()));
    }
    argv.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(in_, STDIN_FILENO);
      dup2(out_, STDOUT_FILENO);
      dup2(err_, STDERR_FILENO);
      execv(RC_COMMAND, argv.data());
      _exit(127);
    }
  }
  ~Process() {
    for (const int file : {in_, out_, err_}) close(file);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void signal(int number) const { kill(pid_, number); }

  Outcome wait() {
    Outcome outcome;
    int status = 0;
    waitpid(pid_, &status, 0);
    outcome.code =
        WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    outcome.out = take_all(out_);
    outcome.err = take_all(err_);
    return outcome;
  }

 private:
  const int in_, out_, err_;
  pid_t pid_ = -1;
};

Outcome run(const std::vector<std::string>& arguments,
            const std::string& input = "") {
  return Process(arguments, input).wait();
}

std::string model() {
  return source_path("tests/golden/architectures/llama2.gguf").string();
}

// One line on stderr.
void expect_failure(const Outcome& outcome, int code, const std::string& text) {
  EXPECT_EQ(outcome.code, code) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1)
      << outcome.err;
  EXPECT_EQ(outcome.err.rfind("runcible: ", 0), 0u) << outcome.err;
  EXPECT_NE(outcome.err.find(text), std::string::npos) << outcome.err;
}

TEST(Command, HelpsAndTellsItsVersion) {
  const Outcome help = run({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const char* word : {"run", "devices", "inspect", "verify", "plan",
                           "tokenize", "bench", "Exit codes"}) {
    EXPECT_NE(help.out.find(word), std::string::npos) << word;
  }
  EXPECT_EQ(run({"run", "--help"}).code, 0);
  EXPECT_NE(run({"--version"}).out.find("runcible 0."), std::string::npos);
}

TEST(Command, HasAnExitCodePerClass) {
  const std::string text = source_path("CMakeLists.txt").string();
  expect_failure(run({}), 2, "subcommand is required");
  expect_failure(run({"fly"}), 2, "subcommand");
  expect_failure(run({"verify"}), 2, "MODEL");
  expect_failure(run({"run", model(), "--temp", "hot"}), 2, "hot");
  expect_failure(run({"run", model(), "--guard-mapped"}), 2, "--keep-mapped");
  expect_failure(run({"run", model(), "--temp", "nan"}), 2, "temperature");
  expect_failure(run({"run", model(), "--top-p", "3"}), 2, "top_p");
  expect_failure(run({"run", model(), "-n", "-2"}), 2, "-2");
  expect_failure(run({"run", model(), "--threads", "0"}), 2, "threads");
  expect_failure(run({"run", model(), "--prompt-tokens", "1,,2"}), 2, "1,2,3");
  expect_failure(run({"run", model(), "--prompt-tokens", "1,272"}), 2, "272");
  expect_failure(run({"run", "no/such.gguf"}), 3, "no/such.gguf");
  expect_failure(run({"verify", "/"}), 3, "/");
  expect_failure(run({"verify", text}), 4, text);
  expect_failure(run({"inspect", text}), 4, text);
  expect_failure(run({"run", model(), "--backend", "quantum"}), 3, "quantum");
  expect_failure(run({"run", model(), "--backend", "reference:9"}), 6,
                 "reference:9");
  expect_failure(
      run({"run", model(), "--context", "8", "-p", "far too long a text"}), 9,
      "8");
  expect_failure(run({"tokenize", model()}), 2, "--decode");
}

TEST(Command, RunsTheSameWhateverTheForm) {
  const std::vector<std::string> common = {
      "run", model(), "-n", "6", "--seed", "5", "--ignore-end"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), common.begin(), common.end());
    return more;
  };
  const Outcome plain = run(with({"-p", "hello"}));
  ASSERT_EQ(plain.code, 0) << plain.err;
  EXPECT_NE(plain.err.find("generated: 6 tokens"), std::string::npos)
      << plain.err;
  // Not a terminal: no bar, no control sequences.
  EXPECT_EQ(plain.err.find('\r'), std::string::npos);
  EXPECT_EQ(run(with({"-p", "-"}), "hello").out, plain.out);

  const Outcome json = run(with({"-p", "hello", "--json"}));
  ASSERT_EQ(json.code, 0) << json.err;
  const Json result = Json::parse(json.out);
  EXPECT_EQ(result["reason"], "length");
  EXPECT_EQ(result["generated_tokens"], 6);
  EXPECT_EQ(result["tokens"].size(), 6u);
  EXPECT_EQ(result["seed"], 5);

  std::string prompt;
  for (const int token : result["prompt"]) {
    prompt += (prompt.empty() ? "" : ",") + std::to_string(token);
  }
  EXPECT_EQ(run(with({"--prompt-tokens", prompt})).out, plain.out);
  EXPECT_EQ(run(with({"-p", ""})).code, 0);
  EXPECT_EQ(run(with({})).code, 0);
}

TEST(Command, TakesTheModelThatComesWithItUnlessOneIsNamed) {
  const std::filesystem::path folder =
      testing::TempDir() + "runcible_command_data_" + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  std::filesystem::copy_file(model(), folder / "fable.gguf");
  setenv("RUNCIBLE_DATA", folder.c_str(), 1);
  const std::vector<std::string> common = {"-n", "6", "--seed", "5",
                                           "--ignore-end"};
  const auto run_with = [&](std::vector<std::string> first) {
    first.insert(first.end(), common.begin(), common.end());
    return run(first);
  };
  const Outcome unnamed = run_with({"run"});
  ASSERT_EQ(unnamed.code, 0) << unnamed.err;
  EXPECT_EQ(unnamed.err.rfind("no model is named: this is builtin:fable", 0),
            0u)
      << unnamed.err;
  const Outcome named = run_with({"run", "builtin:fable"});
  EXPECT_EQ(named.err.find("no model is named"), std::string::npos)
      << named.err;
  EXPECT_EQ(named.out, unnamed.out);
  EXPECT_EQ(run_with({"run", model()}).out, unnamed.out);
  EXPECT_NE(run({"plan"}).err.find("builtin:fable"), std::string::npos);
  EXPECT_NE(run({"bench", "--prompts", "8", "--batches", "1", "-n", "2",
                 "--repetitions", "1"})
                .err.find("builtin:fable"),
            std::string::npos);
  EXPECT_EQ(run({"verify", "builtin:fable"}).out, "builtin:fable: sound\n");
  expect_failure(run({"inspect", "builtin:no-such"}), 3, folder.string());
  expect_failure(run({"run", "builtin:../fable"}), 2, "./");
  unsetenv("RUNCIBLE_DATA");
  std::filesystem::remove_all(folder);
}

TEST(Command, WritesRawLogits) {
  const std::string path = testing::TempDir() + "raw_logits.f32";
  const Outcome outcome =
      run({"run", model(), "--backend", "reference", "--prompt-tokens",
           "1,128,55,255", "-n", "3", "--temp", "0", "--ignore-end",
           "--cache-type", "f32", "--raw-logits", path});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  // Four of the prompt; of three generated tokens the last is not evaluated.
  ASSERT_EQ(std::filesystem::file_size(path), 6u * 272 * 4);
  std::vector<float> rows(6 * 272), golden(4 * 272);
  std::ifstream(path, std::ios::binary)
      .read(reinterpret_cast<char*>(rows.data()),
            static_cast<std::streamsize>(rows.size() * 4));
  std::ifstream(source_path("tests/golden/architectures/llama2.logits.f32"),
                std::ios::binary)
      .read(reinterpret_cast<char*>(golden.data()),
            static_cast<std::streamsize>(golden.size() * 4));
  for (size_t i = 0; i < golden.size(); ++i) {
    ASSERT_NEAR(rows[i], golden[i], 1e-3) << i;
  }
  // From the mapped file they are the same.
  const std::string mapped = testing::TempDir() + "mapped_logits.f32";
  ASSERT_EQ(run({"run", model(), "--backend", "reference", "--prompt-tokens",
                 "1,128,55,255", "-n", "3", "--temp", "0", "--ignore-end",
                 "--cache-type", "f32", "--keep-mapped", "--guard-mapped",
                 "--raw-logits", mapped})
                .code,
            0);
  std::vector<float> mapped_rows(rows.size());
  std::ifstream(mapped, std::ios::binary)
      .read(reinterpret_cast<char*>(mapped_rows.data()),
            static_cast<std::streamsize>(mapped_rows.size() * 4));
  EXPECT_EQ(mapped_rows, rows);
  std::filesystem::remove(mapped);
  std::filesystem::remove(path);
  expect_failure(run({"run", model(), "-n", "0", "--json", "--raw-logits",
                      "no/such/folder/file"}),
                 3, "no/such/folder");
}

TEST(Command, ListsDevices) {
  const Outcome text = run({"devices"});
  EXPECT_EQ(text.code, 0);
  EXPECT_NE(text.out.find("reference:0"), std::string::npos);
  EXPECT_NE(text.out.find("auto: "), std::string::npos);
  const Json json = Json::parse(run({"devices", "--json"}).out);
  EXPECT_GE(json["devices"].size(), 1u);
  EXPECT_NE(json["auto"], "");
}

TEST(Command, LooksAtFiles) {
  const Outcome text = run({"inspect", model()});
  EXPECT_EQ(text.code, 0);
  EXPECT_NE(text.out.find("general.architecture"), std::string::npos);
  EXPECT_NE(text.out.find("token_embd.weight"), std::string::npos);
  EXPECT_NE(text.out.find(",...]"), std::string::npos);
  const Json json = Json::parse(run({"inspect", model(), "--json"}).out);
  EXPECT_EQ(json["metadata"]["general.architecture"]["value"], "llama");
  EXPECT_EQ(json["metadata"]["tokenizer.ggml.tokens"]["value"].size(), 272u);
  EXPECT_GT(json["tensors"].size(), 10u);
  EXPECT_EQ(run({"verify", model()}).out, model() + ": sound\n");
}

TEST(Command, PlansMemory) {
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

TEST(Command, WarnsOfMoreContextThanTheModelWasTrainedFor) {
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

TEST(Command, PlansForSeveralDevices) {
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

TEST(Command, Tokenizes) {
  const Json json =
      Json::parse(run({"tokenize", model(), "-p", "hello", "--json"}).out);
  std::string ids;
  for (const Json& token : json["tokens"]) {
    ids += (ids.empty() ? "" : ",") + token["id"].dump();
  }
  EXPECT_EQ(run({"tokenize", model(), "--decode", ids}).out, "hello\n");
  EXPECT_EQ(run({"tokenize", model(), "-p", "-", "--no-special"}, "").out, "");
}

TEST(Command, Benches) {
  const Outcome outcome =
      run({"bench", model(), "--json", "--prompts", "8,16", "--batches", "1,2",
           "--depths", "1,9,5000", "-n", "4", "--repetitions", "1"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  // More than the context holds.
  EXPECT_NE(outcome.err.find("behind 5000 are"), std::string::npos)
      << outcome.err;
  const Json json = Json::parse(outcome.out);
  ASSERT_EQ(json["results"].size(), 6u);
  for (const Json& result : json["results"]) {
    EXPECT_GT(result["tokens_per_second"].get<double>(), 0);
  }
  EXPECT_EQ(json["results"][2]["depth"], 1);
  EXPECT_EQ(json["results"][5]["depth"], 9);
}

TEST(Command, BenchesWithATrace) {
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

TEST(Command, EndsQuietlyWhenNobodyReads) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  Process process({"run", model(), "-p", "hello", "-n", "6", "--ignore-end"},
                  "", ends[1]);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.code, 141);
  EXPECT_EQ(outcome.err, "");
}

// Who waits for a driver that hangs ends it as any other program.
TEST(Command, TheFirstSignalEndsWhatCannotBeCancelled) {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  const fs::path stuck = folder.path() / "stuck";
  fs::copy(RC_MODULE_STUCK, folder.path() / "librunciblebackend-stuck.so");
  const TemporaryVariable path("RUNCIBLE_PLUGIN_PATH", folder.path().string());
  const TemporaryVariable cache("XDG_CACHE_HOME", folder.path().string());
  const TemporaryVariable file("RUNCIBLE_TEST_STUCK", stuck.string());
  for (const int number : {SIGTERM, SIGINT}) {
    Process process({"devices"});
    pid_t probe = 0;
    while (!(std::ifstream(stuck) >> probe)) usleep(1000);
    process.signal(number);
    EXPECT_EQ(process.wait().code, 128 + number);
    // Nor does the probe stay behind.
    while (kill(probe, 0) == 0 && !is_zombie(probe)) usleep(1000);
    fs::remove(stuck);
  }
}

TEST(Command, CtrlCGivesWhatThereIs) {
  // This model has a context long enough to be interrupted in.
  const std::string fable = source_path("examples/model/fable.gguf").string();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  Process process({"run", fable, "-p", "Once upon a time", "--ignore-end",
                   "--backend", "reference"},
                  "", ends[1]);
  pollfd watched = {ends[0], POLLIN, 0};
  ASSERT_EQ(poll(&watched, 1, 60000), 1);  // it has begun to print
  process.signal(SIGINT);
  // What it had printed by then is all in the pipe.
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.code, 130) << outcome.err;
  EXPECT_NE(outcome.err.find("cancelled"), std::string::npos) << outcome.err;
  char byte = 0;
  EXPECT_EQ(read(ends[0], &byte, 1), 1);
  close(ends[0]);
}

}  // namespace
}  // namespace rc::test
