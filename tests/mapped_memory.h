// How much memory a mapped file takes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace rc::test {

// Bytes of the file that lie in the memory of this process, all its mappings
// together, as Linux tells them.
inline uint64_t mapped_memory(const std::filesystem::path& path) {
  // A mapping begins with a line that ends in the path; below it are lines such
  // as "Rss:    1024 kB".
  const std::string name = " " + std::filesystem::canonical(path).string();
  std::ifstream maps("/proc/self/smaps");
  uint64_t bytes = 0;
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find('-') < line.find(' ')) {
      here = line.ends_with(name);
    } else if (here && line.starts_with("Rss:")) {
      bytes += 1024 * std::stoull(line.substr(4));
    }
  }
  return bytes;
}

}  // namespace rc::test
