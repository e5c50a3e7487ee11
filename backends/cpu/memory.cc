#include "cpu/memory.h"

#include <cstdlib>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace rc::cpu {

Memory64 allocate(uint64_t bytes) {
  constexpr size_t kHugePage = 2u << 20;
  if (bytes > SIZE_MAX - kHugePage) throw std::bad_alloc();
  const size_t size = bytes == 0 ? 1 : static_cast<size_t>(bytes);
  const size_t alignment = size >= kHugePage ? kHugePage : 64;
  Memory64 memory(
      static_cast<uint8_t*>(::operator new(size, std::align_val_t(alignment))),
      FreeAligned{alignment});
#if defined(__linux__)
  if (alignment == kHugePage) {
    // Best effort: without huge pages the memory is as good, only slower.
    madvise(memory.get(), size / kHugePage * kHugePage, MADV_HUGEPAGE);
  }
#endif
  return memory;
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
