// Output to terminals, files and pipes, and Ctrl-C.
#pragma once

#include <string>
#include <string_view>

namespace cli {

// Writes to stdout at once. Throws a Failure if that cannot be written; when
// nobody reads it any more, one without a message. On a terminal control
// characters but line feed and tab are replaced: text of a model must not drive
// it.
void print(std::string_view text);

// One line to stderr; ignores failures.
void note(std::string_view line);

// From now on Ctrl-C sets a flag instead of ending the process; the second one
// ends it. A broken pipe becomes a failed write.
void catch_signals();
bool interrupted();

// A bar on stderr, if that is a terminal; else nothing.
class ProgressBar {
 public:
  explicit ProgressBar(std::string title);
  ~ProgressBar();  // wipes it
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  void show(double fraction);

 private:
  const std::string title_;
  const bool visible_;
  int shown_percent_ = -1;
};

// "1.23 GiB".
std::string bytes_text(unsigned long long bytes);
// "123.4".
std::string fixed_text(double value, int digits);

}  // namespace cli
