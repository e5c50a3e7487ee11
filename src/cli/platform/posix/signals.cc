#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "terminal.h"

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

}  // namespace

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

void forget_interrupt() {
  g_interrupted = 0;
  catch_signals();
}

}  // namespace cli
