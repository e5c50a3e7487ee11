// Lines that a user types, or that a pipe or a file on stdin holds.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace cli {

class LineReader {
 public:
  LineReader();
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // Whether both ends of the conversation are a terminal.
  bool interactive() const { return interactive_; }

  // On a terminal where lines cannot be edited, a sentence that says why and
  // what to do; else "".
  const std::string& hindrance() const { return hindrance_; }

  // The next line, without its line feed; nothing at the end. On a terminal it
  // is asked for with `prompt`, may be edited, and keys bring earlier ones
  // back; Ctrl-C gives an empty one; text that is pasted is one line with line
  // feeds in it. Throws a Failure for SIGTERM.
  std::optional<std::string> next(const std::string& prompt);

 private:
  struct Editor;
  std::optional<std::string> read_plainly(const std::string& prompt) const;

  bool interactive_;
  bool marks_pastes_ = false;  // the terminal can
  std::string hindrance_;
  std::unique_ptr<Editor> editor_;  // nullptr without one
};

}  // namespace cli
