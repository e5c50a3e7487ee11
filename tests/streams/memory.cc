#include "streams/memory.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <vector>

#include "streams/control.h"

namespace rc::stand_in {
namespace {

constexpr std::align_val_t kAlignment{256};
std::atomic<long> taken = 0;

}  // namespace

Ranges& memory() {
  static auto* const all = new Ranges;
  return *all;
}

long bytes_taken() { return taken; }

void* allocate(size_t bytes) {
  const long most = setting("memory", 64 << 10) * 1024 * 1024;
  if (bytes == 0 || taken + static_cast<long>(bytes) > most) return nullptr;
  void* const made = ::operator new(bytes, kAlignment, std::nothrow);
  if (made == nullptr) return nullptr;
  std::memset(made, 0xFF, bytes);
  taken += static_cast<long>(bytes);
  memory().add(reinterpret_cast<uint64_t>(made), bytes);
  return made;
}

bool release(void* ended) {
  wait_for_all();
  const uint64_t bytes = memory().remove(reinterpret_cast<uint64_t>(ended));
  if (bytes == 0) return false;
  taken -= static_cast<long>(bytes);
  ::operator delete(ended, kAlignment);
  return true;
}

bool is_memory(const void* begin, size_t bytes) {
  return bytes == 0 ||
         memory().find(reinterpret_cast<uint64_t>(begin), bytes) != nullptr;
}

void copy(void* target, const void* source, size_t bytes, Stream* stream) {
  if (is_memory(source, bytes)) {
    stream->add([=] { std::memmove(target, source, bytes); });
  } else {
    const auto* const begin = static_cast<const std::byte*>(source);
    const std::vector<std::byte> staged(begin, begin + bytes);
    stream->add([target, staged] {
      std::copy(staged.begin(), staged.end(), static_cast<std::byte*>(target));
    });
  }
  if (!is_memory(target, bytes)) stream->wait();
}

}  // namespace rc::stand_in
