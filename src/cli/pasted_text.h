// Bytes of a terminal that marks what is pasted ("bracketed paste", as xterm
// has it: https://invisible-island.net/xterm/ctlseqs/ctlseqs.html).
#pragma once

#include <string>

namespace cli {

// A line that is read byte by byte, where nothing else reads the sequences of
// keys: they are left out. What is pasted is taken with its line feeds.
class PlainLine {
 public:
  // Takes a byte; true if the line is complete.
  bool take(char c);

  std::string& text() { return text_; }

 private:
  enum class Place { kText, kEscape, kSequence, kLastOfSequence };

  void end_sequence(char last);

  std::string text_;
  std::string sequence_;
  Place place_ = Place::kText;
  bool pasting_ = false;
};

// A pasted text as it is typed: line feeds for the ends of lines, none at the
// end, and no control characters.
std::string tidied_paste(const std::string& text);

// Before and behind a pasted text.
inline constexpr char kPasteBegins[] = "\033[200~";
inline constexpr char kPasteEnds[] = "\033[201~";

}  // namespace cli
