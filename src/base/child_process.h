// Another program that this process starts, and its output.
#pragma once

#include <chrono>
#include <string>

#include "base/descriptor.h"

namespace rc {

// Has no input, and a pipe for its output. The object kills it, if it still
// runs, and reaps it in the end. For one thread.
class ChildProcess {
 public:
  // Starts the program at a path with one argument. error() says whether that
  // worked. Throws std::bad_alloc.
  ChildProcess(const std::string& program, const std::string& argument);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // 0 if it was started; else an errno, of the step that failed.
  int error() const { return error_; }
  bool has_pipe() const { return output_.is_open(); }

  enum class Reading {
    kSome,     // was added to the text
    kNothing,  // came in time
    kEnd,      // nothing will come any more
  };
  // Waits at most `most` for output of the child and adds it to the text. A
  // process that the child has started may hold the output open.
  Reading read(std::chrono::milliseconds most, std::string& text) const;

  // Returns how it ended: "signal N, NAME" or "exit code N"; "" if the host's
  // own handling of children was quicker. Kills a child that does not end by
  // itself within a few seconds: "it did not exit".
  std::string end();

 private:
  void start(const std::string& program, const std::string& argument,
             int output);
  // As waitpid(2); 0: it is not over in time.
  int wait_for_end(int& status) const;
  void kill_and_reap();

  Descriptor output_;
  int id_ = 0;
  int error_ = 0;
  bool running_ = false;
};

}  // namespace rc
