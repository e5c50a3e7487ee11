#include "cpu/memory.h"

#include <cstdlib>

#include "base/memory.h"
#include "cpu/huge_pages.h"

namespace rc::cpu {

Memory64 allocate(uint64_t bytes) {
  if (bytes > SIZE_MAX - kHugePage) throw std::bad_alloc();
  const size_t size = bytes == 0 ? 1 : static_cast<size_t>(bytes);
  const size_t alignment = size >= kHugePage ? kHugePage : 64;
  Memory64 memory(
      static_cast<uint8_t*>(::operator new(size, std::align_val_t(alignment))),
      FreeAligned{alignment});
  use_whole(memory.get(), size);
  return memory;
}

void FreeAligned::unmap(void* p, size_t bytes) { unmap_memory(p, bytes); }

Memory64 allocate_pages(uint64_t bytes) {
  if constexpr (!kMemoryIsMapped) return allocate(bytes);
  if (bytes > SIZE_MAX - 2 * kHugePage) throw std::bad_alloc();
  const auto size =
      static_cast<size_t>((bytes + kHugePage - 1) / kHugePage * kHugePage);
  // Room to begin at a multiple of a huge page; the rest is unmapped again.
  const auto mapped = map_memory(size + kHugePage);
  if (mapped.empty()) throw std::bad_alloc();
  auto* const from = reinterpret_cast<uint8_t*>(mapped.data());
  const size_t before =
      (kHugePage - reinterpret_cast<uintptr_t>(from) % kHugePage) % kHugePage;
  if (before > 0) unmap_memory(from, before);
  if (before < kHugePage) {
    unmap_memory(from + before + size, kHugePage - before);
  }
  Memory64 memory(from + before, FreeAligned{kHugePage, size});
  use_whole(memory.get(), bytes);
  return memory;
}

void use_whole(void* memory, uint64_t bytes) {
  if constexpr (!kMemoryIsMapped) return;
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t first = (begin + kHugePage - 1) / kHugePage * kHugePage;
  const uintptr_t last = (begin + bytes) / kHugePage * kHugePage;
  if (first < last) {
    use_huge_pages(reinterpret_cast<void*>(first), last - first);
  }
}

void FreeZeroed::operator()(void* p) const { std::free(p); }

ZeroedMemory::ZeroedMemory(uint64_t bytes) {
  constexpr size_t kAlignment = 64;
  if (bytes > SIZE_MAX - kAlignment) throw std::bad_alloc();
  block_.reset(std::calloc(static_cast<size_t>(bytes) + kAlignment, 1));
  if (block_ == nullptr) throw std::bad_alloc();
  const auto address = reinterpret_cast<uintptr_t>(block_.get());
  data_ = static_cast<uint8_t*>(block_.get()) +
          (kAlignment - address % kAlignment) % kAlignment;
}

}  // namespace rc::cpu
