#include "base/machine.h"

#include <emscripten/heap.h>
#include <malloc.h>

#include <cerrno>
#include <thread>

namespace rc {

int usable_processors() noexcept {
  return static_cast<int>(std::thread::hardware_concurrency());
}

int keep_on_processors(const std::vector<int>&) { return ENOSYS; }

// Free is as much as the heap may still grow, and as has been given back within
// it. Browsers do not report the memory of the machine.
std::optional<ModuleMemory> module_memory() noexcept {
  const uint64_t total = emscripten_get_heap_max();
  const uint64_t left = total - emscripten_get_heap_size();
  return ModuleMemory{total, left + static_cast<uint64_t>(mallinfo().fordblks)};
}

bool huge_pages_disabled() noexcept { return false; }

std::vector<int> memory_policy_nodes() { return {}; }

int bind_memory(void*, uint64_t, bool, const std::vector<int>&) {
  return ENOSYS;
}

}  // namespace rc
