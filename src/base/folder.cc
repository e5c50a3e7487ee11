#include "base/folder.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <new>
#include <string_view>
#include <system_error>

#include "base/error.h"

namespace rc {
namespace {

[[noreturn]] void fail_with(int error, const std::string& path,
                            const char* what) {
  if (error == ENOMEM) throw std::bad_alloc();
  fail(error == ENOENT || error == ENOTDIR ? RC_E_NOT_FOUND : RC_E_IO, path,
       ": ", what, ": ", std::generic_category().message(error));
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

}  // namespace rc
