// The memory that mapped files take.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

namespace rc::test {

// Calls visit(begin, end, resident bytes) for each mapping of the file in this
// process, as Linux reports them.
inline void visit_mappings(
    const std::filesystem::path& path,
    const std::function<void(uintptr_t, uintptr_t, uint64_t)>& visit) {
  // A mapping begins with a line "BEGIN-END ... PATH"; below it are lines such
  // as "Rss:    1024 kB".
  const std::string name = " " + std::filesystem::canonical(path).string();
  std::ifstream maps("/proc/self/smaps");
  bool here = false;
  uintptr_t begin = 0, end = 0;
  for (std::string line; std::getline(maps, line);) {
    const size_t dash = line.find('-');
    if (dash < line.find(' ')) {
      here = line.ends_with(name);
      begin = std::stoull(line, nullptr, 16);
      end = std::stoull(line.substr(dash + 1), nullptr, 16);
    } else if (here && line.starts_with("Rss:")) {
      visit(begin, end, 1024 * std::stoull(line.substr(4)));
    }
  }
}

// Bytes of the file that lie in the memory of this process, all its mappings
// together.
inline uint64_t mapped_memory(const std::filesystem::path& path) {
  uint64_t bytes = 0;
  visit_mappings(path, [&](uintptr_t, uintptr_t, uint64_t resident) {
    bytes += resident;
  });
  return bytes;
}

// As the system may do at any time.
inline void give_back_mapped_memory(const std::filesystem::path& path) {
  visit_mappings(path, [](uintptr_t begin, uintptr_t end, uint64_t) {
    ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  });
}

}  // namespace rc::test
