// Files that keep what drivers compiled, in $XDG_CACHE_HOME/runcible or
// ~/.cache/runcible.
//
// Drivers run their contents, so a file is used only if it is a regular file of
// the user that no other user may write, and its checksum is right. A file that
// cannot be read, is damaged or cannot be written counts as none: nothing here
// fails but for memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rc::gpu {

// The file of that name, as in "vulkan/DEVICE-DRIVER.cache"; "" if the
// environment names no place for it.
std::string cache_file(const std::string& name);

// Returns the written bytes; empty if there is no such file or it is damaged.
std::string read_cache_file(const std::string& path);

// Replaces the file as a whole; of several writers at once the last one wins.
void write_cache_file(const std::string& path, const std::string& data);

// FNV-1a.
uint64_t hash_of(std::string_view data);

}  // namespace rc::gpu
