#include "terminal.h"

#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "handles.h"

namespace cli {
namespace {

volatile std::sig_atomic_t g_interrupted = 0;  // the signal
volatile std::sig_atomic_t g_watches = 0;

// The state of a terminal to put back; see TerminalState.
volatile std::sig_atomic_t g_terminal_changed = 0;
volatile std::sig_atomic_t g_pastes_marked = 0;
termios g_terminal = {};

constexpr char kMarkPastes[] = "\033[?2004h";
constexpr char kDoNotMarkPastes[] = "\033[?2004l";

void write_sequence(const char* text) {
  const ssize_t written = write(STDOUT_FILENO, text, std::strlen(text));
  static_cast<void>(written);  // a terminal that is gone needs nothing
}

// Within a signal handler.
void restore_terminal() {
  if (g_terminal_changed == 0) return;
  if (g_pastes_marked != 0) write_sequence(kDoNotMarkPastes);
  tcsetattr(STDIN_FILENO, TCSANOW, &g_terminal);
}

void on_interrupt(int number) {
  if (g_watches > 0 && g_interrupted == 0) {
    g_interrupted = number;
    return;
  }
  restore_terminal();
  std::signal(number, SIG_DFL);
  std::raise(number);  // comes when this returns
}

void on_end(int number) {
  restore_terminal();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

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

// What a descriptor is to be given for a text.
class Output {
 public:
  explicit Output(int descriptor)
      : terminal_(isatty(descriptor) != 0),
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

void write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(descriptor, bytes.data(), bytes.size());
    if (n >= 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
    } else if (errno == EPIPE) {
      throw Failure{kBrokenPipe, ""};
    } else if (errno != EINTR) {
      throw Failure{kFile,
                    std::string("cannot write to stdout: ") + strerror(errno)};
    }
  }
}

}  // namespace

void print(Style style, std::string_view text) {
  static const Output output(STDOUT_FILENO);
  write_all(STDOUT_FILENO, output.shown(codes_of(style), text));
}

void print(std::string_view text) { print(Style::kPlain, text); }

void note(std::string_view line) {
  try {
    write_all(STDERR_FILENO, Output(STDERR_FILENO).shown("", line) + '\n');
  } catch (const Failure&) {
  }
}

void complain(std::string_view message) {
  try {
    const Output output(STDERR_FILENO);
    write_all(STDERR_FILENO, output.shown("\033[1;31m", "runcible:") + ' ' +
                                 output.shown("", message) + '\n');
  } catch (const Failure&) {
  }
}

void catch_signals() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  // Beyond the limit on the size of files (ulimit -f) a write fails instead.
  std::signal(SIGXFSZ, SIG_IGN);
}

TerminalState::TerminalState(bool marks_pastes) : marks_pastes_(marks_pastes) {
  if (tcgetattr(STDIN_FILENO, &g_terminal) != 0) return;
  if (marks_pastes_) {
    g_pastes_marked = 1;
    write_sequence(kMarkPastes);
  }
  g_terminal_changed = 1;
  struct sigaction action = {};
  action.sa_handler = on_end;
  sigaction(SIGHUP, &action, nullptr);
  sigaction(SIGQUIT, &action, nullptr);
}

TerminalState::~TerminalState() {
  if (g_terminal_changed == 0) return;
  std::signal(SIGHUP, SIG_DFL);
  std::signal(SIGQUIT, SIG_DFL);
  g_terminal_changed = 0;
  if (g_pastes_marked != 0) write_sequence(kDoNotMarkPastes);
  g_pastes_marked = 0;
}

InterruptWatch::InterruptWatch() { g_watches = g_watches + 1; }
InterruptWatch::~InterruptWatch() { g_watches = g_watches - 1; }

bool interrupted() { return g_interrupted != 0; }

bool terminated() { return g_interrupted == SIGTERM; }

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

void forget_interrupt() {
  g_interrupted = 0;
  catch_signals();
}

ProgressBar::ProgressBar(std::string title)
    : title_(std::move(title)), visible_(isatty(STDERR_FILENO) != 0) {}

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

}  // namespace cli
