// The runcible command, run as anybody would.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "test_data.h"

namespace rc::test {

struct Outcome {
  int code = -1;  // 128 + signal if one ended it
  std::string out;
  std::string err;
};

inline std::string take_all(int descriptor) {
  std::string text;
  char buffer[4096];
  ssize_t n = 0;
  lseek(descriptor, 0, SEEK_SET);
  while ((n = read(descriptor, buffer, sizeof(buffer))) > 0) {
    text.append(buffer, static_cast<size_t>(n));
  }
  return text;
}

inline int temporary_file() {
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
      : Process(arguments, file_of(input), out, -1) {}
  // On descriptors that are the command's from now on; those of outputs may be
  // -1.
  Process(const std::vector<std::string>& arguments, int in, int out, int err)
      : in_(in),
        out_(out >= 0 ? out : temporary_file()),
        err_(err >= 0 ? err : temporary_file()) {
    std::vector<char*> argv = {const_cast<char*>(RC_COMMAND)};
    for (const std::string& argument : arguments) {
      argv.push_back(const_cast<char*>(argument.c_str()));
    }
    argv.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      if (in_ >= 0) {
        dup2(in_, STDIN_FILENO);
      } else {
        close(STDIN_FILENO);
      }
      dup2(out_, STDOUT_FILENO);
      dup2(err_, STDERR_FILENO);
      execv(RC_COMMAND, argv.data());
      _exit(127);
    }
  }
  ~Process() {
    for (const int file : {in_, out_, err_}) {
      if (file >= 0) close(file);
    }
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t id() const { return pid_; }
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
  static int file_of(const std::string& text) {
    const int file = temporary_file();
    EXPECT_EQ(write(file, text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
    lseek(file, 0, SEEK_SET);
    return file;
  }

  const int in_, out_, err_;
  pid_t pid_ = -1;
};

// A pipe whose ends the command does not inherit by themselves.
struct Pipe {
  Pipe() { EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0); }
  int ends[2];
};

// With this as stdin, which is the command's from now on; -1: closed.
inline Outcome run_on(int in, const std::vector<std::string>& arguments) {
  return Process(arguments, in, -1, -1).wait();
}

inline Outcome run(const std::vector<std::string>& arguments,
                   const std::string& input = "") {
  return Process(arguments, input).wait();
}

inline std::string model() {
  return source_path("tests/golden/architectures/llama2.gguf").string();
}

// A model of tests/golden/folders.
inline std::string model_folder(const std::string& name) {
  return source_path("tests/golden/folders/" + name).string();
}

// The bytes of a file.
inline std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// One line on stderr.
inline void expect_failure(const Outcome& outcome, int code,
                           const std::string& text) {
  EXPECT_EQ(outcome.code, code) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1)
      << outcome.err;
  EXPECT_EQ(outcome.err.rfind("runcible: ", 0), 0u) << outcome.err;
  EXPECT_NE(outcome.err.find(text), std::string::npos) << outcome.err;
}

}  // namespace rc::test
