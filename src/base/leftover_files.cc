#include "base/leftover_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <ctime>
#include <string_view>
#include <vector>

#include "base/cat.h"
#include "base/descriptor.h"
#include "base/folder.h"

namespace rc {
namespace {

// The second part says that the writer holds a lock.
constexpr std::string_view kBegin = ".runcible-";
constexpr std::string_view kLocked = ".runcible-new-";
constexpr std::string_view kEnd = ".tmp";
// Names that others took, before giving up.
constexpr int kMaxAttempts = 100;
// Versions before 0.1 wrote without a lock, and links have none: these are
// leftovers once they are so old.
constexpr std::time_t kOldSeconds = 24 * 60 * 60;

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

// Whether the name still leads to the file.
bool is_named(const struct stat& file, const std::string& name) {
  struct stat named = {};
  return ::lstat(name.c_str(), &named) == 0 && named.st_ino == file.st_ino &&
         named.st_dev == file.st_dev;
}

void remove_if_left(const std::string& path, bool is_locked) {
  struct stat found = {};
  if (::lstat(path.c_str(), &found) != 0 || found.st_uid != ::geteuid()) {
    return;
  }
  const bool is_old = found.st_mtime < std::time(nullptr) - kOldSeconds;
  if (!is_locked && !is_old) return;
  if (S_ISREG(found.st_mode)) {
    const Descriptor file(
        ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat opened = {};
    if (!file.is_open() || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0 ||
        ::fstat(file.get(), &opened) != 0 || !is_named(opened, path)) {
      return;
    }
    // Under the lock, so that a writer that has only just made it sees it go.
    ::unlink(path.c_str());
  } else if (S_ISLNK(found.st_mode) && is_old) {
    ::unlink(path.c_str());
  }
}

}  // namespace

int make_temporary(const std::string& path, mode_t permissions,
                   std::string* name) {
  static std::atomic<unsigned> counter = 0;
  const std::string folder = folder_of(path);
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    std::string made = cat(folder, kLocked, ::getpid(), "-", counter++, kEnd);
    Descriptor file(::open(
        made.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, permissions));
    if (!file.is_open()) {
      if (errno == EEXIST) continue;
      return -1;
    }
    // Without a lock it may be taken for a leftover at once.
    const bool is_taken =
        ::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    struct stat status = {};
    if (is_taken ||
        (::fstat(file.get(), &status) == 0 && !is_named(status, made))) {
      continue;
    }
    *name = std::move(made);
    return file.release();
  }
  errno = EEXIST;
  return -1;
}

void remove_leftovers(const std::string& path) noexcept {
  try {
    const std::string folder = folder_of(path);
    for (const std::string& name :
         names_in_folder(folder.empty() ? std::string(".") : folder)) {
      if (!name.starts_with(kBegin) || !name.ends_with(kEnd)) continue;
      remove_if_left(folder + name, name.starts_with(kLocked));
    }
  } catch (...) {
    // A folder that cannot be read, or no memory: they stay until the next
    // time.
  }
}

}  // namespace rc
