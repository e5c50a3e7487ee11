// Small files in which the system describes the machine and of this process.
#pragma once

#include <optional>
#include <string>

#include "base/whole_file.h"

namespace rc::plugin {

// Empty if there is no such file. /proc/cpuinfo has a few thousand bytes for
// each processor.
inline std::string contents(const std::string& path) {
  constexpr size_t kLargest = size_t{64} << 20;
  return read_whole_file(path, kLargest).value_or("");
}

// The value behind `key` in lines of the form "key : value"; nothing if there
// is none.
std::optional<std::string> field(const std::string& path,
                                 const std::string& key);

}  // namespace rc::plugin
