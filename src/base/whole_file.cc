#include "base/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "base/descriptor.h"

namespace rc {
namespace {

Descriptor open_for_reading(const std::string& path, int more) {
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  Descriptor file(::open(path.c_str(),
                         O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | more));
  if (!file.is_open() && errno == ENOMEM) throw std::bad_alloc();
  return file;
}

std::optional<std::string> read_all(const Descriptor& file, size_t largest) {
  // Files of /proc do not say their size: the end is where nothing comes.
  constexpr size_t kPiece = 4096;
  std::string content;
  size_t filled = 0;
  while (true) {
    if (filled == content.size()) {
      content.resize(std::min(largest + 1, filled + std::max(kPiece, filled)));
    }
    const ssize_t count =
        ::read(file.get(), content.data() + filled, content.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    filled += static_cast<size_t>(count);
    if (filled > largest) return std::nullopt;
    if (count == 0) break;
  }
  content.resize(filled);
  return content;
}

}  // namespace

std::optional<std::string> read_whole_file(const std::string& path,
                                           size_t largest) {
  const Descriptor file = open_for_reading(path, 0);
  struct stat found = {};
  if (!file.is_open() || ::fstat(file.get(), &found) != 0 ||
      !S_ISREG(found.st_mode)) {
    return std::nullopt;
  }
  return read_all(file, largest);
}

std::optional<std::string> read_own_file(const std::string& path,
                                         size_t largest) {
  const Descriptor file = open_for_reading(path, O_NOFOLLOW);
  struct stat found = {};
  if (!file.is_open() || ::fstat(file.get(), &found) != 0 ||
      !S_ISREG(found.st_mode) || found.st_uid != ::geteuid() ||
      (found.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return std::nullopt;
  }
  return read_all(file, largest);
}

}  // namespace rc
