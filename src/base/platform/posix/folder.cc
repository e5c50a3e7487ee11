#include "base/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <new>
#include <string_view>
#include <system_error>

#include "base/descriptor.h"
#include "base/error.h"

namespace rc {
namespace {

[[noreturn]] void fail_with(int error, const std::string& path,
                            const char* what) {
  if (error == ENOMEM) throw std::bad_alloc();
  fail(error == ENOENT || error == ENOTDIR ? RC_E_NOT_FOUND : RC_E_IO, path,
       ": ", what, ": ", std::generic_category().message(error));
}

[[noreturn]] void fail_at(const std::string& path, const char* what,
                          int error) {
  fail(RC_E_IO, path, ": ", what, ": ", std::generic_category().message(error));
}

// Makes and enters the folders of `name` below `folder`, through no links; the
// last part is left in *leaf.
Descriptor enter_folders(const std::string& folder, const std::string& name,
                         std::string* leaf) {
  Descriptor at(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!at.is_open()) fail_at(folder, "cannot be opened", errno);
  size_t begin = 0;
  for (size_t slash = name.find('/'); slash != name.npos;
       slash = name.find('/', begin)) {
    const std::string part = name.substr(begin, slash - begin);
    if (::mkdirat(at.get(), part.c_str(), 0777) != 0 && errno != EEXIST) {
      fail_at(cat(folder, "/", name), "its folder cannot be made", errno);
    }
    Descriptor next(::openat(at.get(), part.c_str(),
                             O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next.is_open()) {
      fail_at(cat(folder, "/", name), "its folder cannot be opened", errno);
    }
    at = std::move(next);
    begin = slash + 1;
  }
  *leaf = name.substr(begin);
  return at;
}

}  // namespace

std::vector<std::string> names_in_folder(const std::string& path) {
  struct Close {
    void operator()(DIR* folder) const { ::closedir(folder); }
  };
  const std::unique_ptr<DIR, Close> folder(::opendir(path.c_str()));
  if (folder == nullptr) fail_with(errno, path, "cannot be read");
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(folder.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) fail_with(errno, path, "cannot be read");
  std::sort(names.begin(), names.end());
  return names;
}

std::string real_path(const std::string& path) {
  struct Free {
    void operator()(char* text) const { std::free(text); }
  };
  const std::unique_ptr<char, Free> real(::realpath(path.c_str(), nullptr));
  if (real == nullptr) fail_with(errno, path, "cannot be found");
  return real.get();
}

bool is_folder(const std::string& path) noexcept {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool is_there(const std::string& path) noexcept {
  struct stat status = {};
  return ::lstat(path.c_str(), &status) == 0;
}

bool make_folder(const std::string& path, unsigned permissions) noexcept {
  return ::mkdir(path.c_str(), static_cast<mode_t>(permissions)) == 0 ||
         errno == EEXIST;
}

bool remove_folder(const std::string& path) noexcept {
  return ::rmdir(path.c_str()) == 0;
}

void link_below(const std::string& folder, const std::string& name,
                const std::string& target) {
  std::string leaf;
  const Descriptor inner = enter_folders(folder, name, &leaf);
  // Appears at once, so that it is never missing.
  static std::atomic<unsigned> counter = 0;
  const std::string temporary =
      cat(".runcible-", ::getpid(), "-", counter++, ".tmp");
  if (::symlinkat(target.c_str(), inner.get(), temporary.c_str()) != 0) {
    fail_at(cat(folder, "/", name), "cannot be linked", errno);
  }
  if (::renameat(inner.get(), temporary.c_str(), inner.get(), leaf.c_str()) !=
      0) {
    const int error = errno;
    ::unlinkat(inner.get(), temporary.c_str(), 0);
    fail_at(cat(folder, "/", name), "cannot be linked", error);
  }
}

}  // namespace rc
