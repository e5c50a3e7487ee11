#include "base/disk_cache.h"

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <span>

#include "base/checksum.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/new_file.h"
#include "base/whole_file.h"

namespace rc {
namespace {

namespace fs = std::filesystem;

// No cache grows larger; a larger file is not ours.
constexpr size_t kLargestFile = 65536;
// Of the checksum, in hexadecimal, with the end of its line.
constexpr size_t kSumBytes = 17;

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

// The content of a file: a checksum, so that a damaged one is noticed; the key,
// so that the fact is taken for no other key's; the fact.
std::string content_of(std::string_view key, std::string_view fact) {
  const std::string text = cat(key.size(), " ", key, "\n", fact);
  char sum[kSumBytes + 1];
  std::snprintf(sum, sizeof sum, "%016llx\n",
                static_cast<unsigned long long>(
                    checksum(std::as_bytes(std::span(text)))));
  return sum + text;
}

}  // namespace

std::optional<std::string> recall(std::string_view key) {
  const fs::path path = folder();
  if (path.empty()) return std::nullopt;
  const auto content =
      read_own_file((path / file_name(key)).string(), kLargestFile);
  const size_t begin = content_of(key, "").size();
  if (!content || content->size() < begin) return std::nullopt;
  std::string fact = content->substr(begin);
  if (*content != content_of(key, fact)) return std::nullopt;
  return fact;
}

void remember(std::string_view key, std::string_view fact) {
  const fs::path path = folder();
  if (path.empty()) return;
  try {
    std::error_code error;
    fs::create_directories(path, error);  // NewFile fails if it is not there
    NewFile file((path / file_name(key)).string(), 0600);
    const std::string content = content_of(key, fact);
    file.append(std::as_bytes(std::span(content)));
    file.commit();
  } catch (const Error& error) {
    log(RC_LOG_DEBUG, "cannot be kept in the cache: ", error.message());
  }
}

void forget(std::string_view key) {
  const fs::path path = folder();
  if (path.empty()) return;
  std::error_code error;  // a fact that cannot be removed is found again
  fs::remove(path / file_name(key), error);
}

std::string file_state(const std::string& path) {
  const auto found = file_status(path);
  if (!found) return cat(path, " absent; ");
  return cat(path, " ", found->inode, " ", found->size, " ", found->seconds,
             ".", found->nanoseconds, "; ");
}

}  // namespace rc
