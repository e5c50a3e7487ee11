#include "terminal.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "handles.h"
#include "system.h"

namespace cli {
namespace {

// The bytes to show for a text on a terminal.
std::string tame(std::string_view text) {
  std::string tamed;
  tamed.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool control =
        (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F;
    if (control) {
      tamed += "\xEF\xBF\xBD";  // U+FFFD
    } else {
      tamed += c;
    }
  }
  return tamed;
}

// See no-color.org.
bool colours_are_wanted() {
  const char* const none = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return (none == nullptr || *none == '\0') && terminal != nullptr &&
         std::strcmp(terminal, "dumb") != 0;
}

// The control sequence that begins a style; "" for none.
const char* codes_of(Style style) {
  switch (style) {
    case Style::kStrong:
      return "\033[1m";
    case Style::kWarning:
      return "\033[33m";
    case Style::kDim:
      return "\033[2m";
    case Style::kPlain:
      break;
  }
  return "";
}

// Writes texts to a stream, with colours where it is a terminal that has them.
class Output {
 public:
  explicit Output(Stream stream)
      : terminal_(is_terminal(stream)),
        coloured_(terminal_ && colours_are_wanted()) {}

  std::string shown(const char* codes, std::string_view text) const {
    std::string bytes = terminal_ ? tame(text) : std::string(text);
    if (!coloured_ || *codes == '\0') return bytes;
    return codes + bytes + "\033[0m";
  }

 private:
  const bool terminal_;
  const bool coloured_;
};

void write_all(Stream stream, std::string_view bytes) {
  const int error = write_to(stream, bytes);
  if (error == 0) return;
  if (error == EPIPE) throw Failure{kBrokenPipe, ""};
  throw Failure{kFile,
                std::string("cannot write to stdout: ") + strerror(error)};
}

}  // namespace

void print(Style style, std::string_view text) {
  static const Output output(Stream::kOut);
  write_all(Stream::kOut, output.shown(codes_of(style), text));
}

void print(std::string_view text) { print(Style::kPlain, text); }

void note(std::string_view line) {
  try {
    write_all(Stream::kError, Output(Stream::kError).shown("", line) + '\n');
  } catch (const Failure&) {
  }
}

void complain(std::string_view message) {
  try {
    const Output output(Stream::kError);
    write_all(Stream::kError, output.shown("\033[1;31m", "runcible:") + ' ' +
                                  output.shown("", message) + '\n');
  } catch (const Failure&) {
  }
}

int complain_of_end(int code, const std::string& message) {
  if (code != kInterrupted || !interrupted()) {
    if (!message.empty()) complain(message);
    return code;
  }
  const int end = terminated() ? kTerminated : kInterrupted;
  // The user who typed it sees that the command ends.
  if (!terminated() && message.empty()) return end;
  complain(std::string("interrupted by ") +
           (terminated() ? "SIGTERM" : "Ctrl-C") +
           (message.empty() ? "" : ": " + message));
  return end;
}

ProgressBar::ProgressBar(std::string title)
    : title_(std::move(title)), visible_(is_terminal(Stream::kError)) {}

ProgressBar::~ProgressBar() {
  if (visible_ && shown_percent_ >= 0) {
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
  }
}

void ProgressBar::show(double fraction) {
  constexpr int kWidth = 40;
  const int percent = static_cast<int>(fraction * 100);
  if (!visible_ || percent == shown_percent_) return;
  shown_percent_ = percent;
  const int filled = static_cast<int>(fraction * kWidth);
  const std::string bar =
      std::string(static_cast<size_t>(filled), '#') +
      std::string(static_cast<size_t>(kWidth - filled), ' ');
  std::fprintf(stderr, "\r%s [%s] %3d %%", title_.c_str(), bar.c_str(),
               percent);
  std::fflush(stderr);
}

std::string fixed_text(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

std::string bytes_text(unsigned long long bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " bytes";
  const char* const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(units)) {
    value /= 1024;
    ++unit;
  }
  return fixed_text(value, 2) + " " + units[unit];
}

std::string experts_text(long long layers) {
  return "experts of " + std::to_string(layers) +
         (layers == 1 ? " layer" : " layers");
}

}  // namespace cli
