#include "base/leftover_files.h"

#include <atomic>
#include <cerrno>
#include <ctime>
#include <string_view>
#include <vector>

#include "base/cat.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/process.h"

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
bool is_named(const FileStatus& file, const std::string& name) {
  const auto named = link_status(name);
  return named && named->is_same_file(file);
}

void remove_if_left(const std::string& path, bool is_locked) {
  const auto found = link_status(path);
  if (!found || !is_own(*found)) return;
  const bool is_old = found->seconds < std::time(nullptr) - kOldSeconds;
  if (!is_locked && !is_old) return;
  if (found->is_file()) {
    const Descriptor file = open_for_reading(path, Links::kRefuse);
    if (!file.is_open() || lock_file(file) != FileLocking::kLocked) return;
    const auto opened = file_status(file);
    if (!opened || !is_named(*opened, path)) return;
    // Under the lock, so that a writer that has only just made it sees it go.
    remove_file(path);
  } else if (found->is_link() && is_old) {
    remove_file(path);
  }
}

}  // namespace

Descriptor make_temporary(const std::string& path, unsigned permissions,
                          std::string* name) {
  static std::atomic<unsigned> counter = 0;
  const std::string folder = folder_of(path);
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    std::string made = cat(folder, kLocked, process_id(), "-", counter++, kEnd);
    Descriptor file = make_file(made, permissions);
    if (!file.is_open()) {
      if (errno == EEXIST) continue;
      return file;
    }
    // Without a lock it may be taken for a leftover at once.
    if (lock_file(file) == FileLocking::kHeld) continue;
    const auto status = file_status(file);
    if (status && !is_named(*status, made)) continue;
    *name = std::move(made);
    return file;
  }
  errno = EEXIST;
  return Descriptor();
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
