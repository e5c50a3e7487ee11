#include "line_reader.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "handles.h"
#include "pasted_text.h"
#include "system.h"
#include "terminal.h"

#if defined(RC_HAS_LIBEDIT)
#include <histedit.h>

#include <cwchar>
#endif

namespace cli {
namespace {

// Waits for something to read; false if Ctrl-C came. It may come just before
// the wait begins, so that is looked at now and then.
bool wait_for_input() {
  constexpr std::chrono::milliseconds kLook(200);
  while (!interrupted()) {
    if (wait_for_stdin(kLook) > 0) return true;
  }
  return false;
}

// Whether the terminal says what it is, and is more than paper.
bool has_sequences() {
  const char* const term = std::getenv("TERM");
  return term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
}

std::string no_sequences_text() {
  const char* const term = std::getenv("TERM");
  return std::string("lines cannot be edited here: TERM is ") +
         (term == nullptr || *term == '\0' ? "not set" : term) +
         "; set it to the kind of the terminal, such as xterm-256color";
}

void end_if_terminated() {
  if (terminated()) throw Failure{kInterrupted, ""};
}

}  // namespace

#if defined(RC_HAS_LIBEDIT)

namespace {

// The next character, as libedit wants it: 1, or 0 at the end, or -1. Its own
// function would go on after Ctrl-C.
int next_character(EditLine* /*edit*/, wchar_t* character) {
  std::mbstate_t state = {};
  for (;;) {
    char byte = 0;
    if (!wait_for_input()) return -1;
    const int64_t n = read_from_stdin({&byte, 1});
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return static_cast<int>(n);
    const size_t size = std::mbrtowc(character, &byte, 1, &state);
    if (size == static_cast<size_t>(-2)) continue;  // there is more of it
    if (size != static_cast<size_t>(-1)) return 1;
    *character = L'\uFFFD';
    return 1;
  }
}

// Takes the text behind kPasteBegins into the line, up to kPasteEnds.
unsigned char take_paste(EditLine* edit, int /*key*/) {
  constexpr std::string_view kEnd = kPasteEnds;
  std::string bytes;
  while (!bytes.ends_with(kEnd)) {
    char byte = 0;
    if (!wait_for_input()) break;
    const int64_t n = read_from_stdin({&byte, 1});
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    bytes += byte;
  }
  if (bytes.ends_with(kEnd)) bytes.resize(bytes.size() - kEnd.size());
  const std::string text = tidied_paste(bytes);
  if (text.empty()) return CC_REFRESH;
  return el_insertstr(edit, text.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
}

}  // namespace

struct LineReader::Editor {
  Editor() : edit(el_init("runcible", stdin, stdout, stderr)) {
    if (edit == nullptr) throw Failure{kMemory, "out of memory"};
    history = history_init();
    if (history != nullptr) {
      HistEvent event;
      ::history(history, &event, H_SETSIZE, 1000);
      ::history(history, &event, H_SETUNIQUE, 1);
      el_set(edit, EL_HIST, ::history, history);
    }
    el_set(edit, EL_CLIENTDATA, this);
    el_set(edit, EL_PROMPT, &Editor::prompt_of);
    el_set(edit, EL_EDITOR, "emacs");
    el_set(edit, EL_SIGNAL, 0);
    el_set(edit, EL_GETCFN, &next_character);
    el_source(edit, nullptr);  // ~/.editrc
    // Behind the keys that the user has set.
    el_set(edit, EL_ADDFN, "runcible-paste", "Take a pasted text", &take_paste);
    el_set(edit, EL_BIND, kPasteBegins, "runcible-paste", nullptr);
  }
  ~Editor() {
    el_end(edit);
    if (history != nullptr) history_end(history);
  }
  Editor(const Editor&) = delete;
  Editor& operator=(const Editor&) = delete;

  static char* prompt_of(EditLine* edit) {
    Editor* self = nullptr;
    el_get(edit, EL_CLIENTDATA, &self);
    return self->prompt.data();
  }

  EditLine* edit;
  History* history = nullptr;
  std::string prompt;
};

std::optional<std::string> LineReader::next(const std::string& prompt) {
  if (editor_ == nullptr) return read_plainly(prompt);
  const InterruptWatch watch;
  end_if_terminated();
  forget_interrupt();  // of what came before
  const TerminalState state(marks_pastes_);
  editor_->prompt = prompt;
  int count = 0;
  // Before the prompt shows, for a user who types at once.
  el_set(editor_->edit, EL_PREP_TERM, 1);
  const char* line = el_gets(editor_->edit, &count);
  if (line == nullptr || count <= 0) {
    if (!interrupted()) return std::nullopt;
    el_reset(editor_->edit);
    print("\n");
    end_if_terminated();
    forget_interrupt();
    return "";
  }
  std::string text(line, static_cast<size_t>(count));
  if (text.ends_with('\n')) text.pop_back();
  if (!text.empty() && editor_->history != nullptr) {
    HistEvent event;
    history(editor_->history, &event, H_ENTER, text.c_str());
  }
  return text;
}

#else

struct LineReader::Editor {};

std::optional<std::string> LineReader::next(const std::string& prompt) {
  return read_plainly(prompt);
}

#endif

LineReader::LineReader()
    : interactive_(is_terminal(Stream::kIn) && is_terminal(Stream::kOut)) {
  if (!interactive_) return;
  marks_pastes_ = has_sequences();
  if (!marks_pastes_) hindrance_ = no_sequences_text();
#if defined(RC_HAS_LIBEDIT)
  if (!marks_pastes_) return;
  use_utf8();
  editor_ = std::make_unique<Editor>();
#else
  hindrance_ =
      "lines cannot be edited, and arrow keys do nothing: Runcible was built "
      "without libedit; install libedit-dev and build again, or run it under "
      "rlwrap";
#endif
}

LineReader::~LineReader() = default;

std::optional<std::string> LineReader::read_plainly(
    const std::string& prompt) const {
  const InterruptWatch watch;
  std::optional<TerminalState> state;
  if (interactive_) {
    end_if_terminated();
    state.emplace(marks_pastes_);
    print(prompt);
  }
  PlainLine keys;
  std::string& line = keys.text();
  for (;;) {
    char c = 0;
    if (!wait_for_input()) {
      if (!interactive_) throw Failure{kInterrupted, ""};
      end_if_terminated();
      forget_interrupt();
      print("\n");
      return "";
    }
    const int64_t n = read_from_stdin({&c, 1});
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      if (line.empty()) return std::nullopt;
      return std::move(line);
    }
    // A pipe or a file has no keys.
    if (interactive_ ? keys.take(c) : c == '\n') return std::move(line);
    if (!interactive_) line += c;
  }
}

}  // namespace cli
