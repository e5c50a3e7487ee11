// Stdin, terminals, pipes and Ctrl-C.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/command.h"
#include "temporary.h"

namespace rc::test {
namespace {

// Whether the process is gone but for who should ask how it ended.
bool is_zombie(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  const size_t state = text.rfind(')');
  return state == std::string::npos || text.substr(state + 2, 1) == "Z";
}

TEST(CommandTerminal, TakesATextFromAPipeOrAFile) {
  const std::vector<std::string> common = {
      "run", model(), "-n", "6", "--seed", "5", "--ignore-eos"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), common.begin(), common.end());
    return more;
  };
  const std::string hello = run(with({"-p", "hello"})).out;
  const std::string nothing = run(with({"-p", ""})).out;
  ASSERT_NE(hello, nothing);
  EXPECT_EQ(run(with({}), "hello").out, hello);
  EXPECT_EQ(run(with({}), "").out, nothing);
  // A given prompt is used, and nothing is read.
  EXPECT_EQ(run(with({"-p", ""}), "hello").out, nothing);
  EXPECT_EQ(run({"tokenize", model(), "--json"}, "hello").out,
            run({"tokenize", model(), "--json", "-p", "hello"}).out);
  {
    Pipe full;
    ASSERT_EQ(write(full.ends[1], "hello", 5), 5);
    close(full.ends[1]);
    EXPECT_EQ(run_on(full.ends[0], common).out, hello);
  }
  {
    Pipe empty;
    close(empty.ends[1]);
    EXPECT_EQ(run_on(empty.ends[0], common).out, nothing);
  }
  // Pipes that stay open without a word: with -p they are not waited for.
  {
    Pipe open;
    EXPECT_EQ(run_on(open.ends[0], with({"-p", ""})).out, nothing);
    close(open.ends[1]);
  }
  // None of these provides a text.
  EXPECT_EQ(run_on(-1, common).out, nothing);
  EXPECT_EQ(run_on(open("/dev/null", O_RDWR), common).out, nothing);
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
  EXPECT_EQ(run_on(sockets[0], common).out, nothing);
  close(sockets[1]);
}

TEST(CommandTerminal, ReportsThatItWaitsForInput) {
  Pipe pipe;
  const Pipe notes;
  Process process({"run", model(), "-n", "1"}, pipe.ends[0], -1, notes.ends[1]);
  std::string said;
  char byte = 0;
  while (said.find('\n') == std::string::npos &&
         read(notes.ends[0], &byte, 1) == 1) {
    said += byte;
  }
  EXPECT_NE(said.find("waiting for a text on stdin"), std::string::npos)
      << said;
  // Ctrl-C ends the waiting.
  process.signal(SIGINT);
  EXPECT_EQ(process.wait().code, 130);
  close(pipe.ends[1]);
  close(notes.ends[0]);
}

// Returns the output of the command on a terminal, of stdout and stderr.
std::string on_terminal(const std::vector<std::string>& arguments) {
  int mine = -1, its = -1;
  char name[64];
  EXPECT_EQ(openpty(&mine, &its, name, nullptr, nullptr), 0);
  fcntl(mine, F_SETFD, FD_CLOEXEC);
  fcntl(its, F_SETFD, FD_CLOEXEC);
  // Not for reading: what is written there cannot be read there.
  Process process(arguments, open("/dev/null", O_RDONLY),
                  open(name, O_WRONLY | O_NOCTTY),
                  open(name, O_WRONLY | O_NOCTTY));
  std::string text;
  char bytes[4096];
  pid_t ended = 0;
  while (true) {
    pollfd watched = {mine, POLLIN, 0};
    if (poll(&watched, 1, 100) > 0) {
      const ssize_t count = read(mine, bytes, sizeof bytes);
      if (count > 0) text.append(bytes, static_cast<size_t>(count));
    } else if (ended != 0) {
      break;
    } else {
      siginfo_t about = {};
      waitid(P_PID, static_cast<id_t>(process.id()), &about,
             WEXITED | WNOHANG | WNOWAIT);
      ended = about.si_pid;
    }
  }
  process.wait();
  close(mine);
  close(its);
  return text;
}

// A host that takes the connection and says nothing.
TEST(CommandTerminal, PullReportsTheHostItWaitsFor) {
  const int host = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(host, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(host, 4), 0);
  ASSERT_EQ(getsockname(host, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string name =
      "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  const TemporaryFolder folder;
  const TemporaryVariable hub("HF_ENDPOINT", "http://" + name);
  const TemporaryVariable cache("HF_HUB_CACHE", folder.path().string());
  const std::vector<std::string> sources[] = {
      {"pull", "http://" + name + "/m.gguf", "--to", folder.path() / "m.gguf"},
      {"pull", "hf:o/m"}};
  for (const std::vector<std::string>& arguments : sources) {
    int mine = -1, its = -1;
    char terminal[64];
    ASSERT_EQ(openpty(&mine, &its, terminal, nullptr, nullptr), 0);
    fcntl(mine, F_SETFD, FD_CLOEXEC);
    fcntl(its, F_SETFD, FD_CLOEXEC);
    Process process(arguments, open("/dev/null", O_RDONLY), -1,
                    open(terminal, O_WRONLY | O_NOCTTY));
    close(its);
    std::string text;
    char byte = 0;
    while (text.find("connecting to " + name) == std::string::npos &&
           read(mine, &byte, 1) == 1) {
      text += byte;
    }
    EXPECT_NE(text.find("connecting to " + name), std::string::npos) << text;
    process.signal(SIGINT);
    EXPECT_EQ(process.wait().code, 130);
    close(mine);
  }
  close(host);
}

TEST(CommandTerminal, HasColoursOnATerminalOnly) {
  const char* const term = std::getenv("TERM");
  const std::string before = term == nullptr ? "" : term;
  setenv("TERM", "xterm", 1);
  unsetenv("NO_COLOR");
  const std::string failure = on_terminal({"verify", "no/such.gguf"});
  EXPECT_NE(failure.find("\033[1;31mruncible:\033[0m no/such.gguf"),
            std::string::npos)
      << failure;
  EXPECT_NE(on_terminal({"explain", "--backend", "reference"})
                .find("\033[1mreference:0\033[0m"),
            std::string::npos);
  // Names of files do not drive the terminal.
  EXPECT_EQ(on_terminal({"verify", "no/\033[31m"}).find("\033[31m"),
            std::string::npos);
  setenv("NO_COLOR", "1", 1);
  EXPECT_EQ(on_terminal({"verify", "no/such.gguf"}).find('\033'),
            std::string::npos);
  setenv("NO_COLOR", "", 1);  // as good as not set
  EXPECT_NE(on_terminal({"verify", "no/such.gguf"}).find('\033'),
            std::string::npos);
  unsetenv("NO_COLOR");
  setenv("TERM", "dumb", 1);
  EXPECT_EQ(on_terminal({"verify", "no/such.gguf"}).find('\033'),
            std::string::npos);
  setenv("TERM", "xterm", 1);
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"explain", "--backend", "reference"},
        std::vector<std::string>{"devices"},
        std::vector<std::string>{"verify", "no/such.gguf"}}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ((outcome.out + outcome.err).find('\033'), std::string::npos);
  }
  setenv("TERM", before.c_str(), 1);
}

TEST(CommandTerminal, EndsQuietlyOnABrokenPipe) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  Process process({"run", model(), "-p", "hello", "-n", "6", "--ignore-eos"},
                  "", ends[1]);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.code, 141);
  EXPECT_EQ(outcome.err, "");
}

// A signal ends the command while it waits for a driver that hangs.
TEST(CommandTerminal, FirstSignalEndsUncancellableWork) {
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
    // The probe ends, too.
    while (kill(probe, 0) == 0 && !is_zombie(probe)) usleep(1000);
    fs::remove(stuck);
  }
}

// Lowers the priority of a process, so that on a busy machine it is still at
// work when the test, which waits for its first output, sends the signal.
void slow_down(const Process& process) {
  EXPECT_EQ(setpriority(PRIO_PROCESS, static_cast<id_t>(process.id()), 10), 0);
}

TEST(CommandTerminal, CtrlCPrintsThePartialAnswer) {
  // This model has a context long enough to be interrupted in.
  const std::string fable = source_path("examples/model/fable.gguf").string();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  Process process({"run", fable, "-p", "Once upon a time", "--ignore-eos",
                   "--backend", "reference"},
                  "", ends[1]);
  slow_down(process);
  pollfd watched = {ends[0], POLLIN, 0};
  ASSERT_EQ(poll(&watched, 1, 60000), 1);  // it has begun to print
  process.signal(SIGINT);
  // The output so far is complete in the pipe.
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.code, 130) << outcome.err;
  EXPECT_NE(outcome.err.find("cancelled"), std::string::npos) << outcome.err;
  char byte = 0;
  EXPECT_EQ(read(ends[0], &byte, 1), 1);
  close(ends[0]);
}

// Sends a signal to the command once its progress bar has this title, and
// returns its output.
std::string interrupted_by(int number, const std::string& title,
                           const std::vector<std::string>& arguments) {
  int mine = -1, its = -1;
  char name[64];
  EXPECT_EQ(openpty(&mine, &its, name, nullptr, nullptr), 0);
  fcntl(mine, F_SETFD, FD_CLOEXEC);
  fcntl(its, F_SETFD, FD_CLOEXEC);
  Process process(arguments, open("/dev/null", O_RDONLY), -1,
                  open(name, O_WRONLY | O_NOCTTY));
  slow_down(process);
  std::string said;
  const auto listen = [&](int most_ms) {
    char bytes[4096];
    pollfd watched = {mine, POLLIN, 0};
    if (poll(&watched, 1, most_ms) <= 0) return false;
    const ssize_t count = read(mine, bytes, sizeof bytes);
    said.append(bytes, static_cast<size_t>(std::max<ssize_t>(count, 0)));
    return count > 0;
  };
  while (said.find(title) == std::string::npos && listen(60000)) {
  }
  process.signal(number);
  EXPECT_EQ(process.wait().code, 128 + number) << said;
  while (listen(0)) {
  }
  close(mine);
  close(its);
  return said;
}

// Waits until a thread of the process waits for input. Where the system does
// not report the calls of others, it returns at once.
void wait_until_it_polls(pid_t process) {
  const std::filesystem::path tasks =
      "/proc/" + std::to_string(process) + "/task";
  for (;;) {
    std::error_code error;
    bool is_reported = false;
    for (const auto& task : std::filesystem::directory_iterator(tasks, error)) {
      std::ifstream file(task.path() / "syscall");
      std::string call;
      if (!(file >> call)) continue;
      is_reported = true;
      // poll of x86-64, and ppoll of aarch64
      if (call == "7" || call == "73") return;
    }
    if (!is_reported) return;
    usleep(1000);
  }
}

// Whether or not the command looks at signals then.
TEST(CommandTerminal, ExitCodeIsThatOfTheSignal) {
  const std::string fable = source_path("examples/model/fable.gguf").string();
  const std::string messages = "-";
  const std::string cross =
      source_path("tests/golden/embeddings/bert-cross").string();
  const std::vector<std::vector<std::string>> waiting = {
      {"run", fable},
      {"tokenize", fable},
      {"template", fable, "--messages", messages},
      {"embed", cross},
      {"rerank", cross, "a"},
      {"chat", source_path("examples/chat_model/fabulist.gguf").string()}};
  for (const int number : {SIGTERM, SIGINT}) {
    for (const auto& words : waiting) {
      // A pipe without an end holds the command up.
      Pipe pipe;
      Process process(words, pipe.ends[0], -1, -1);
      wait_until_it_polls(process.id());
      process.signal(number);
      EXPECT_EQ(process.wait().code, 128 + number) << words[0];
      close(pipe.ends[1]);
    }
  }
  const std::string codes = run({"help", "exit-codes"}).out;
  EXPECT_NE(codes.find("  143  "), std::string::npos) << codes;
}

TEST(CommandTerminal, ReportsTheInterruptingSignal) {
  const TemporaryFolder folder;
  const TemporaryVariable cache("XDG_CACHE_HOME", folder.path().string());
  const TemporaryVariable plain("NO_COLOR", "1");
  const std::string test = "the test of reference:0 was cancelled";
  const std::vector<std::string> self_test = {"devices", "--self-test",
                                              "reference"};
  const auto said_by = [](int number, const std::string& title,
                          const std::vector<std::string>& arguments,
                          const std::string& line) {
    const std::string said = interrupted_by(number, title, arguments);
    EXPECT_NE(said.find("runcible: interrupted by " + line + "\r\n"),
              std::string::npos)
        << said;
  };
  said_by(SIGTERM, "testing", self_test, "SIGTERM: " + test);
  said_by(SIGINT, "testing", self_test, "Ctrl-C: " + test);
  // These end without a message of the library.
  const std::string fable = source_path("examples/model/fable.gguf").string();
  const std::vector<std::string> bench = {"bench", fable, "--backend",
                                          "reference"};
  said_by(SIGTERM, "measuring", bench, "SIGTERM");
  const std::string said = interrupted_by(SIGINT, "measuring", bench);
  EXPECT_EQ(said.find("runcible:"), std::string::npos) << said;
}

}  // namespace
}  // namespace rc::test
