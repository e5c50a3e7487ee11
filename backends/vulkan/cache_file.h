// The file that keeps what drivers compiled:
// $XDG_CACHE_HOME/runcible/vulkan/DEVICE-DRIVER.cache, or in ~/.cache.
//
// A file that cannot be read, is damaged or cannot be written is as good as
// none: nothing here fails but for memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vulkan/api.h"

namespace rc::vulkan {

// "" if the environment names no place for it.
std::string cache_file_name(VkPhysicalDevice device);

// What was written; empty if there is no such file or it is damaged.
std::vector<uint8_t> read_cache_file(const std::string& name);

// Replaces the file as a whole.
void write_cache_file(const std::string& name,
                      const std::vector<uint8_t>& data);

}  // namespace rc::vulkan
