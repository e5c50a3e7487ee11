// The file that keeps what drivers compiled:
// $XDG_CACHE_HOME/runcible/vulkan/DEVICE-DRIVER.cache, or in ~/.cache.
//
// Drivers run its contents, so it is used only if it is a regular file of the
// user that no other user may write, and its checksum is right. A file that
// cannot be read, is damaged or cannot be written counts as none: nothing here
// fails but for memory.
#pragma once

#include <string>

#include "vulkan/api.h"

namespace rc::vulkan {

// "" if the environment names no place for it.
std::string cache_file_name(VkPhysicalDevice device);

// Returns the written bytes; empty if there is no such file or it is damaged.
std::string read_cache_file(const std::string& name);

// Replaces the file as a whole; of several writers at once the last one wins.
void write_cache_file(const std::string& name, const std::string& data);

}  // namespace rc::vulkan
