// Memory for handles that are made and released by the million.
//
// Slots stay the library's when what was in them is gone, for the next ones:
// so a pointer that lies in one can be followed at any time, and whether it is
// a handle now is read from its slot, without a lock. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace rc::api {

class HandleSlots {
 public:
  // Of handles of at most so many bytes, aligned as any other object.
  explicit HandleSlots(size_t bytes)
      : slot_bytes_(static_cast<uint32_t>((kHead + bytes + kLine - 1) / kLine *
                                          kLine)) {}
  HandleSlots(const HandleSlots&) = delete;
  HandleSlots& operator=(const HandleSlots&) = delete;

  // Memory that is no handle yet; throws std::bad_alloc.
  void* allocate();
  // The handle that was there is not valid any more.
  void free(void* memory) noexcept;

  // Makes what lies in a slot a handle with one reference.
  static void add(const void* handle) noexcept {
    references_of(handle).store(1, std::memory_order_release);
  }
  // Of any pointer.
  bool contains(const void* handle) const noexcept {
    return is_slot(handle) &&
           references_of(handle).load(std::memory_order_acquire) > 0;
  }
  // False if it is no handle.
  bool retain(const void* handle) noexcept;
  // The references left; -1 if it was no handle.
  int64_t release(const void* handle) noexcept;

 private:
  static constexpr size_t kLine = 64;
  static constexpr size_t kHead = 16;  // before the memory of a slot
  static constexpr size_t kChunkBytes = size_t{1} << 16;

  // Addresses of chunks, most of which are near each other: open addressing, at
  // most half full.
  struct Table {
    explicit Table(size_t places);
    void insert(uintptr_t chunk) noexcept;
    const size_t places;  // a power of two
    const std::unique_ptr<std::atomic<uintptr_t>[]> chunks;
  };
  struct OfThread;  // free slots that a thread keeps

  static std::atomic<int64_t>& references_of(const void* handle) noexcept {
    return *reinterpret_cast<std::atomic<int64_t>*>(
        reinterpret_cast<uintptr_t>(handle) - kHead);
  }
  bool is_slot(const void* handle) const noexcept {
    const auto address = reinterpret_cast<uintptr_t>(handle);
    const auto within = static_cast<uint32_t>(address % kChunkBytes);
    return within % slot_bytes_ == kHead &&
           within - kHead + slot_bytes_ <= kChunkBytes &&
           is_chunk(address - within);
  }
  bool is_chunk(uintptr_t chunk) const noexcept {
    const Table* table = table_.load(std::memory_order_acquire);
    if (table == nullptr) return false;
    for (size_t i = place_of(chunk);; ++i) {
      const uintptr_t found = table->chunks[i & (table->places - 1)].load(
          std::memory_order_acquire);
      if (found == chunk || found == 0) return found == chunk && chunk != 0;
    }
  }
  static size_t place_of(uintptr_t chunk) noexcept {
    return static_cast<size_t>(chunk / kChunkBytes);
  }
  OfThread* of_thread() noexcept;  // nullptr: it keeps none
  void give_back(void* memory) noexcept;
  void add_chunk();  // under the mutex

  const uint32_t slot_bytes_;
  std::atomic<Table*> table_{nullptr};
  std::mutex mutex_;
  std::vector<void*> free_;  // has room for all slots
  std::vector<std::unique_ptr<Table>> tables_;
  size_t chunk_count_ = 0;
};

}  // namespace rc::api
