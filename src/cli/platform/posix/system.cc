#include "system.h"

#include <langinfo.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <clocale>

namespace cli {
namespace {

int descriptor_of(Stream stream) {
  switch (stream) {
    case Stream::kIn:
      return STDIN_FILENO;
    case Stream::kOut:
      return STDOUT_FILENO;
    case Stream::kError:
      break;
  }
  return STDERR_FILENO;
}

}  // namespace

bool is_terminal(Stream stream) noexcept {
  return isatty(descriptor_of(stream)) != 0;
}

bool is_text_on_stdin() noexcept {
  struct stat about = {};
  return fstat(STDIN_FILENO, &about) == 0 &&
         (S_ISFIFO(about.st_mode) || S_ISREG(about.st_mode));
}

int wait_for_stdin(std::chrono::milliseconds most) noexcept {
  pollfd watched = {STDIN_FILENO, POLLIN, 0};
  return poll(&watched, 1, static_cast<int>(most.count()));
}

int64_t read_from_stdin(std::span<char> bytes) noexcept {
  return read(STDIN_FILENO, bytes.data(), bytes.size());
}

int write_to(Stream stream, std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t n = write(descriptor_of(stream), bytes.data(), bytes.size());
    if (n >= 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

int64_t process_id() noexcept { return getpid(); }

void use_utf8() {
  setlocale(LC_CTYPE, "");
  if (std::string_view(nl_langinfo(CODESET)) != "UTF-8") {
    setlocale(LC_CTYPE, "C.UTF-8");
  }
}

}  // namespace cli
