#include "vulkan/cache_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/whole_file.h"

namespace rc::vulkan {
namespace {

// Drivers check that a cache is theirs, but not all that it is whole.
struct Head {
  char magic[8] = {'r', 'c', 'v', 'k', 'p', 'c', '0', '1'};
  uint64_t size = 0;
  uint64_t hash = 0;
};

// Larger ones are not read.
constexpr size_t kLargest = size_t{256} << 20;

// FNV-1a.
uint64_t hash_of(std::string_view data) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : data) {
    hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  }
  return hash;
}

// The folders of a file; those that are missing are for the user alone.
void make_folders(const std::string& file) {
  for (size_t slash = file.find('/', 1); slash != std::string::npos;
       slash = file.find('/', slash + 1)) {
    ::mkdir(file.substr(0, slash).c_str(), 0700);
  }
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

std::string cache_file_name(VkPhysicalDevice device) {
  std::string folder;
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (cache != nullptr && cache[0] == '/') {
    folder = cache;
  } else if (home != nullptr && home[0] == '/') {
    folder = std::string(home) + "/.cache";
  } else {
    return "";
  }
  VkPhysicalDeviceIDProperties id = {};
  id.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES;
  VkPhysicalDeviceProperties2 properties = {};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &id;
  vkGetPhysicalDeviceProperties2(device, &properties);
  std::string name;
  for (uint8_t byte : id.deviceUUID) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    name += digits;
  }
  name += cat("-", properties.properties.driverVersion, ".cache");
  return folder + "/runcible/vulkan/" + name;
}

std::string read_cache_file(const std::string& name) {
  std::optional<std::string> content =
      read_own_file(name, kLargest + sizeof(Head));
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

void write_cache_file(const std::string& name, const std::string& data) {
  if (name.empty() || data.size() > kLargest) return;
  make_folders(name);
  // No one else writes a file of this name, in this process or another.
  static std::atomic<unsigned> counter = 0;
  const std::string part = cat(name, ".", ::getpid(), "-", counter++, ".tmp");
  Descriptor file(::open(part.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                         0600));
  if (!file.is_open()) {
    // Left behind by a process that had this number; next time it is new.
    if (errno == EEXIST) ::unlink(part.c_str());
    return;
  }
  Head head;
  head.size = data.size();
  head.hash = hash_of(data);
  const bool written =
      write_all(file.get(),
                {reinterpret_cast<const char*>(&head), sizeof head}) &&
      write_all(file.get(), data);
  file.reset();
  if (!written || ::rename(part.c_str(), name.c_str()) != 0) {
    ::unlink(part.c_str());
  }
}

}  // namespace rc::vulkan
