#include "base/memory.h"

#include <sys/mman.h>

namespace rc {

std::span<std::byte> map_memory(size_t bytes) noexcept {
  void* start = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return {};
  return {static_cast<std::byte*>(start), bytes};
}

std::span<const std::byte> map_file(const Descriptor& file,
                                    size_t bytes) noexcept {
  void* start = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (start == MAP_FAILED) return {};
  return {static_cast<const std::byte*>(start), bytes};
}

void unmap_memory(const void* start, size_t bytes) noexcept {
  ::munmap(const_cast<void*>(start), bytes);
}

void use_huge_pages(void* start, size_t bytes) noexcept {
  ::madvise(start, bytes, MADV_HUGEPAGE);
}

}  // namespace rc
