#include "cpu/memory.h"

#include <cstdlib>

#include "cpu/huge_pages.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

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

#if defined(__linux__)

void FreeAligned::unmap(void* p, size_t bytes) { ::munmap(p, bytes); }

Memory64 allocate_pages(uint64_t bytes) {
  if (bytes > SIZE_MAX - 2 * kHugePage) throw std::bad_alloc();
  const auto size =
      static_cast<size_t>((bytes + kHugePage - 1) / kHugePage * kHugePage);
  // With room to begin at a multiple; what is not needed goes back.
  void* const mapped = ::mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  auto* const from = static_cast<uint8_t*>(mapped);
  const size_t before =
      (kHugePage - reinterpret_cast<uintptr_t>(mapped) % kHugePage) % kHugePage;
  if (before > 0) ::munmap(from, before);
  if (before < kHugePage) {
    ::munmap(from + before + size, kHugePage - before);
  }
  Memory64 memory(from + before, FreeAligned{kHugePage, size});
  use_whole(memory.get(), bytes);
  return memory;
}

#else

void FreeAligned::unmap(void*, size_t) {}

Memory64 allocate_pages(uint64_t bytes) { return allocate(bytes); }

#endif

void use_whole(void* memory, uint64_t bytes) {
#if defined(__linux__)
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t first = (begin + kHugePage - 1) / kHugePage * kHugePage;
  const uintptr_t last = (begin + bytes) / kHugePage * kHugePage;
  // Best effort: without huge pages the memory is as good, only slower.
  if (first < last) {
    madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
  }
#else
  static_cast<void>(memory);
  static_cast<void>(bytes);
#endif
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
