#include "gpu/cache_file.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/folder.h"
#include "base/new_file.h"
#include "base/whole_file.h"

namespace rc::gpu {
namespace {

// Drivers check that a cache is theirs, but not all that it is whole.
struct Head {
  char magic[8] = {'r', 'c', 'c', 'o', 'm', 'p', '0', '1'};
  uint64_t size = 0;
  uint64_t hash = 0;
};

// Larger ones are not read.
constexpr size_t kLargest = size_t{256} << 20;

// The folders of a file; those that are missing are for the user alone.
void make_folders(const std::string& file) {
  for (size_t slash = file.find('/', 1); slash != std::string::npos;
       slash = file.find('/', slash + 1)) {
    make_folder(file.substr(0, slash), 0700);
  }
}

}  // namespace

std::string cache_file(const std::string& name) {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  // A relative path counts as none.
  if (cache != nullptr && cache[0] == '/') {
    return cat(cache, "/runcible/", name);
  }
  if (home != nullptr && home[0] == '/') {
    return cat(home, "/.cache/runcible/", name);
  }
  return "";
}

uint64_t hash_of(std::string_view data) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : data) {
    hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  }
  return hash;
}

std::string read_cache_file(const std::string& path) {
  std::optional<std::string> content =
      read_own_file(path, kLargest + sizeof(Head));
  Head head;
  const Head expected;
  if (!content || content->size() < sizeof head) return "";
  content->copy(reinterpret_cast<char*>(&head), sizeof head);
  content->erase(0, sizeof head);
  if (std::memcmp(head.magic, expected.magic, sizeof head.magic) != 0 ||
      head.size != content->size() || hash_of(*content) != head.hash) {
    return "";
  }
  return *std::move(content);
}

void write_cache_file(const std::string& path, const std::string& data) {
  if (path.empty() || data.size() > kLargest) return;
  make_folders(path);
  Head head;
  head.size = data.size();
  head.hash = hash_of(data);
  try {
    NewFile file(path, 0600);
    file.append(std::as_bytes(std::span(&head, 1)));
    file.append(std::as_bytes(std::span(data)));
    file.commit();
  } catch (const Error&) {
    // It is made again by the next process.
  }
}

}  // namespace rc::gpu
