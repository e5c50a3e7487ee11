#include "api/handle_slots.h"

#include <algorithm>
#include <new>

#include "base/thread_owned.h"

#if defined(__SANITIZE_ADDRESS__)
// Of the address sanitizer.
extern "C" {
void __asan_poison_memory_region(const volatile void* memory, size_t bytes);
void __asan_unpoison_memory_region(const volatile void* memory, size_t bytes);
}
#endif

namespace rc::api {
namespace {

// So many free slots stay with a thread, so that it meets no other.
constexpr int kKept = 32;

// The memory of a free slot must not be used.
void guard_free([[maybe_unused]] void* memory, [[maybe_unused]] size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __asan_poison_memory_region(memory, bytes);
#endif
}
void unguard([[maybe_unused]] void* memory, [[maybe_unused]] size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(memory, bytes);
#endif
}

}  // namespace

struct HandleSlots::OfThread {
  ~OfThread() {
    while (count > 0) slots->give_back(kept[--count]);
  }
  // There is one for all objects of the class: that of the first thread.
  HandleSlots* slots = nullptr;
  int count = 0;
  void* kept[kKept];
};

HandleSlots::OfThread* HandleSlots::of_thread() noexcept {
  OfThread* const own = ThreadOwned<OfThread>::get();
  if (own != nullptr && own->slots == nullptr) own->slots = this;
  return own != nullptr && own->slots == this ? own : nullptr;
}

HandleSlots::Table::Table(size_t places)
    : places(places), chunks(new std::atomic<uintptr_t>[places]()) {}

void HandleSlots::Table::insert(uintptr_t chunk) noexcept {
  size_t i = place_of(chunk);
  while (chunks[i & (places - 1)].load(std::memory_order_relaxed) != 0) ++i;
  chunks[i & (places - 1)].store(chunk, std::memory_order_release);
}

void* HandleSlots::allocate() {
  OfThread* const own = of_thread();
  void* memory = nullptr;
  if (own != nullptr && own->count > 0) {
    memory = own->kept[--own->count];
  } else {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) add_chunk();
    memory = free_.back();
    free_.pop_back();
  }
  unguard(memory, slot_bytes_ - kHead);
  return memory;
}

void HandleSlots::free(void* memory) noexcept {
  references_of(memory).store(0, std::memory_order_relaxed);
  guard_free(memory, slot_bytes_ - kHead);
  OfThread* const own = of_thread();
  if (own != nullptr && own->count < kKept) {
    own->kept[own->count++] = memory;
  } else {
    give_back(memory);
  }
}

void HandleSlots::give_back(void* memory) noexcept {
  const std::lock_guard lock(mutex_);
  free_.push_back(memory);  // there is room for all
}

void HandleSlots::add_chunk() {
  const size_t slots = kChunkBytes / slot_bytes_;
  const size_t wanted = (chunk_count_ + 1) * slots;
  if (free_.capacity() < wanted) {
    free_.reserve(std::max(wanted, 2 * free_.capacity()));
  }
  Table* table = table_.load(std::memory_order_relaxed);
  if (table == nullptr || 2 * (chunk_count_ + 1) > table->places) {
    // The one before stays: others may be looking into it. All of them together
    // are no more than the last.
    auto larger =
        std::make_unique<Table>(table == nullptr ? 64 : 2 * table->places);
    for (size_t i = 0; table != nullptr && i < table->places; ++i) {
      const uintptr_t chunk = table->chunks[i].load(std::memory_order_relaxed);
      if (chunk != 0) larger->insert(chunk);
    }
    tables_.push_back(std::move(larger));
    table = tables_.back().get();
    table_.store(table, std::memory_order_release);
  }
  auto* const chunk = static_cast<std::byte*>(
      ::operator new(kChunkBytes, std::align_val_t(kChunkBytes)));
  for (size_t i = slots; i-- > 0;) {
    std::byte* const memory = chunk + i * slot_bytes_ + kHead;
    new (memory - kHead) std::atomic<int64_t>(0);
    guard_free(memory, slot_bytes_ - kHead);
    free_.push_back(memory);
  }
  ++chunk_count_;
  table->insert(reinterpret_cast<uintptr_t>(chunk));
}

bool HandleSlots::retain(const void* handle) noexcept {
  if (!is_slot(handle)) return false;
  std::atomic<int64_t>& references = references_of(handle);
  int64_t found = references.load(std::memory_order_relaxed);
  while (found > 0) {
    if (references.compare_exchange_weak(found, found + 1)) return true;
  }
  return false;
}

int64_t HandleSlots::release(const void* handle) noexcept {
  if (!is_slot(handle)) return -1;
  std::atomic<int64_t>& references = references_of(handle);
  int64_t found = references.load(std::memory_order_relaxed);
  while (found > 0) {
    if (references.compare_exchange_weak(found, found - 1)) return found - 1;
  }
  return -1;
}

}  // namespace rc::api
