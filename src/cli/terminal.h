// Output to terminals, files and pipes, and Ctrl-C.
#pragma once

#include <string>
#include <string_view>

namespace cli {

// The style of a piece of text, on terminals that show it: those whose TERM
// is not dumb, unless NO_COLOR is set.
enum class Style { kPlain, kStrong, kWarning, kDim };

// Writes to stdout at once. Throws a Failure if that cannot be written; when
// it is not read any more, one without a message. On a terminal control
// characters but line feed and tab are replaced: text of a model must not drive
// it.
void print(Style style, std::string_view text);
void print(std::string_view text);

// One line to stderr; ignores failures.
void note(std::string_view line);
// The same for what ends the command: "runcible: " comes before it.
void complain(std::string_view message);

// The same as the command ends with this code; the message may be empty. Says
// first which signal interrupted it, if one did. Returns the code to end with.
int complain_of_end(int code, const std::string& message);

// From now on a broken pipe becomes a failed write, and Ctrl-C ends the process
// unless it is watched for.
void catch_signals();
// Ctrl-C and SIGTERM set a flag while one of these lives, for those who look at
// it often; the second one ends the process all the same.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
};
bool interrupted();
// Whether it was SIGTERM: then even a conversation ends.
bool terminated();
// The interrupt has been handled: Ctrl-C may come again.
void forget_interrupt();

// Puts a terminal on stdin back into its state, and ends the marking of pastes,
// if a signal ends the process while one of these lives.
class TerminalState {
 public:
  // `marks_pastes`: from now on the terminal marks what is pasted.
  explicit TerminalState(bool marks_pastes);
  ~TerminalState();
  TerminalState(const TerminalState&) = delete;
  TerminalState& operator=(const TerminalState&) = delete;

 private:
  const bool marks_pastes_;
};

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
// "experts of 4 layers".
std::string experts_text(long long layers);
// "123.4".
std::string fixed_text(double value, int digits);

}  // namespace cli
