#include "vulkan/cache_file.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"

namespace rc::vulkan {
namespace {

namespace fs = std::filesystem;

// Drivers check that a cache is theirs, but not all that it is whole.
struct Head {
  char magic[8] = {'r', 'c', 'v', 'k', 'p', 'c', '0', '1'};
  uint64_t size = 0;
  uint64_t hash = 0;
};

// Larger ones are not read.
constexpr uint64_t kLargest = uint64_t{256} << 20;

// FNV-1a.
uint64_t hash_of(const std::vector<uint8_t>& data) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (uint8_t byte : data) hash = (hash ^ byte) * 0x100000001b3u;
  return hash;
}

}  // namespace

std::string cache_file_name(VkPhysicalDevice device) {
  fs::path folder;
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (cache != nullptr && cache[0] == '/') {
    folder = cache;
  } else if (home != nullptr && home[0] == '/') {
    folder = fs::path(home) / ".cache";
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
  return (folder / "runcible" / "vulkan" / name).string();
}

std::vector<uint8_t> read_cache_file(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  Head head;
  const Head expected;
  if (!file.read(reinterpret_cast<char*>(&head), sizeof head) ||
      std::memcmp(head.magic, expected.magic, sizeof head.magic) != 0 ||
      head.size > kLargest) {
    return {};
  }
  std::vector<uint8_t> data(head.size);
  if (!file.read(reinterpret_cast<char*>(data.data()),
                 static_cast<std::streamsize>(data.size())) ||
      hash_of(data) != head.hash) {
    return {};
  }
  return data;
}

void write_cache_file(const std::string& name,
                      const std::vector<uint8_t>& data) {
  if (name.empty()) return;
  const fs::path target(name);
  std::error_code ignored;
  fs::create_directories(target.parent_path(), ignored);
  // Another process may write at the same time: the last one wins.
  const fs::path part = name + cat(".", getpid());
  Head head;
  head.size = data.size();
  head.hash = hash_of(data);
  {
    std::ofstream file(part, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(&head), sizeof head);
    file.write(reinterpret_cast<const char*>(data.data()),
               static_cast<std::streamsize>(data.size()));
    file.flush();
    if (!file) {
      fs::remove(part, ignored);
      return;
    }
  }
  fs::rename(part, target, ignored);
  if (ignored) fs::remove(part, ignored);
}

}  // namespace rc::vulkan
