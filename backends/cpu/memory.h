// Aligned memory that gives itself back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace rc::cpu {

struct FreeAligned {
  size_t alignment = 64;
  size_t mapped = 0;  // bytes of its mapping; 0: from the heap
  void operator()(void* p) const {
    if (mapped > 0) return unmap(p, mapped);
    ::operator delete(p, std::align_val_t(alignment));
  }

 private:
  static void unmap(void* p, size_t bytes);
};
using Memory64 = std::unique_ptr<uint8_t, FreeAligned>;

// At least 64-byte aligned, contents undefined. Large blocks are asked to be
// made of huge pages, which saves address translation while streaming.
Memory64 allocate(uint64_t bytes);

// The same in a separate mapping, of which no page has been touched yet.
Memory64 allocate_pages(uint64_t bytes);

// Asks that large memory, which is about to be touched all over, be made of
// huge pages.
void use_whole(void* memory, uint64_t bytes);

// As allocate, all zero; pages are taken only when they are touched.
struct FreeZeroed {
  void operator()(void* p) const;
};
class ZeroedMemory {
 public:
  explicit ZeroedMemory(uint64_t bytes);
  uint8_t* data() const { return data_; }

 private:
  std::unique_ptr<void, FreeZeroed> block_;
  uint8_t* data_ = nullptr;  // aligned, within block_
};

}  // namespace rc::cpu
