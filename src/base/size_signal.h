// Writing beyond the limit on the size of files (ulimit -f) as an error.
//
// By default the system ends the process with SIGXFSZ. Who handles that signal
// is the program's affair, so the library holds it back on the thread that
// writes, and only while it writes: the write then fails with EFBIG.
#pragma once

namespace rc {

// Every write to a file of ours, and every change of its size, happens while
// one of these lives. Keeps errno. For one thread.
class SizeSignalHeld {
 public:
  SizeSignalHeld() noexcept;
  ~SizeSignalHeld();
  SizeSignalHeld(const SizeSignalHeld&) = delete;
  SizeSignalHeld& operator=(const SizeSignalHeld&) = delete;

 private:
  // Whether this has blocked the signal, which was not blocked before.
  [[maybe_unused]] bool held_ = false;
};

}  // namespace rc
