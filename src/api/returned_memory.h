// Memory that the caller gets and frees with rc_free, which is free().
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>

namespace rc::api {

struct Free {
  void operator()(void* memory) const noexcept { std::free(memory); }
};
template <class T>
using Returned = std::unique_ptr<T, Free>;

inline void* allocate_returned(size_t bytes) {
  void* memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

// A copy with a terminating zero.
inline Returned<char> return_text(std::string_view text) {
  Returned<char> copy(static_cast<char*>(allocate_returned(text.size() + 1)));
  if (!text.empty()) std::memcpy(copy.get(), text.data(), text.size());
  copy.get()[text.size()] = '\0';
  return copy;
}

// A copy; NULL if there is nothing.
template <class T>
Returned<T> return_array(std::span<const T> elements) {
  if (elements.empty()) return nullptr;
  Returned<T> copy(static_cast<T*>(allocate_returned(elements.size_bytes())));
  std::memcpy(copy.get(), elements.data(), elements.size_bytes());
  return copy;
}

}  // namespace rc::api
