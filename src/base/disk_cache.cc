#include "base/disk_cache.h"

#include <sys/stat.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <span>

#include "base/environment.h"
#include "base/error.h"
#include "base/log.h"
#include "base/new_file.h"
#include "base/whole_file.h"

namespace rc {
namespace {

namespace fs = std::filesystem;

// No cache grows larger; a larger file is not ours.
constexpr size_t kLargestFile = 65536;

// Empty if the user has no such folder.
fs::path folder() {
  if (const auto cache = environment_folder("XDG_CACHE_HOME")) {
    return fs::path(*cache) / "runcible";
  }
  const auto home = environment_folder("HOME");
  return home ? fs::path(*home) / ".cache" / "runcible" : fs::path();
}

// FNV-1a (Fowler, Noll, Vo), 64 bits. Two keys of one hash displace each other.
std::string file_name(std::string_view key) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : key) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  char name[17];
  std::snprintf(name, sizeof name, "%016llx",
                static_cast<unsigned long long>(hash));
  return name;
}

// Before the fact, so that it is taken for no other key's.
std::string heading(std::string_view key) {
  return cat(key.size(), " ", key, "\n");
}

}  // namespace

std::optional<std::string> recall(std::string_view key) {
  const fs::path path = folder();
  if (path.empty()) return std::nullopt;
  const auto content =
      read_own_file((path / file_name(key)).string(), kLargestFile);
  const std::string begin = heading(key);
  if (!content || !content->starts_with(begin)) return std::nullopt;
  return content->substr(begin.size());
}

void remember(std::string_view key, std::string_view fact) {
  const fs::path path = folder();
  if (path.empty()) return;
  try {
    std::error_code error;
    fs::create_directories(path, error);  // NewFile fails if it is not there
    NewFile file((path / file_name(key)).string(), 0600);
    const std::string begin = heading(key);
    file.append(std::as_bytes(std::span(begin)));
    file.append(std::as_bytes(std::span(fact.data(), fact.size())));
    file.commit();
  } catch (const Error& error) {
    log(RC_LOG_DEBUG, "cannot be kept in the cache: ", error.message());
  }
}

void forget(std::string_view key) {
  const fs::path path = folder();
  if (path.empty()) return;
  std::error_code error;  // what cannot be removed is found anew, too
  fs::remove(path / file_name(key), error);
}

std::string file_state(const std::string& path) {
  struct stat found = {};
  if (stat(path.c_str(), &found) != 0) return cat(path, " absent; ");
  return cat(path, " ", found.st_ino, " ", found.st_size, " ",
             found.st_mtim.tv_sec, ".", found.st_mtim.tv_nsec, "; ");
}

}  // namespace rc
