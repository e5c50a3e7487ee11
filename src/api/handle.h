// Handles of the C ABI: which pointers are handles now, of what kind, and how
// many references they have.
//
// The library keeps these facts outside of the objects, so that a pointer from
// a caller can be judged without following it: NULL, a foreign pointer, a
// handle of another kind or one that was released is recognised without
// touching memory that may be gone. (A released handle whose address a new one
// of the same kind has got cannot be recognised.) Thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "api/handle_slots.h"
#include "base/caller_thread.h"
#include "base/error.h"
#include "runcible/generate.h"

namespace rc::api {

enum class Kind {
  kDeviceList,
  kBackend,
  kModelInfo,
  kPlan,
  kTokenizer,
  kChat,
  kChatPrompt,
  kModel,
  kSession,
  kLoop,
  kRequest,
  kTensor,
  kPinned,
  kGraph,
  kCustomOp,
  kGrammar,
  kGrammarMatcher,
  kEmbedding,
  kTenant
};

namespace handles {
// Adds a handle with one reference.
void add(const void* handle, Kind kind);
bool contains(const void* handle, Kind kind) noexcept;
// False if it is no such handle.
bool retain(const void* handle, Kind kind) noexcept;
// The references left; at 0 it is no handle any more. nullopt if it was none.
std::optional<size_t> release(const void* handle, Kind kind) noexcept;
// Throws RC_E_INVALID_ARGUMENT, naming the argument and what it is.
[[noreturn]] void refuse(const void* handle, Kind kind, const char* name);
// Sets the thread's message, for functions without a status.
void report_refused(const void* handle, Kind kind, const char* name) noexcept;
}  // namespace handles

template <class T>
inline constexpr Kind kKindOf = T::kKind;

// A class of handles that are made so often that their facts are kept next to
// them: objects of it lie in T::slots(), all of them.
template <class T>
concept InSlots = requires {
  T::slots();
};

// Gives an object out as a handle with one reference.
template <class T>
T* add_handle(std::unique_ptr<T> object) {
  if constexpr (InSlots<T>) {
    HandleSlots::add(object.get());
  } else {
    handles::add(object.get(), kKindOf<T>);
  }
  return object.release();
}

template <class T>
bool is_handle(const T* handle) noexcept {
  if constexpr (InSlots<T>) {
    return T::slots().contains(handle);
  } else {
    return handles::contains(handle, kKindOf<T>);
  }
}

template <class T>
T& need(T* handle, const char* name) {
  if (!is_handle(handle)) handles::refuse(handle, kKindOf<T>, name);
  return *handle;
}

// nullptr, with the thread's message set, if it is no such handle.
template <class T>
T* retain_handle(T* handle, const char* name) noexcept {
  bool retained = false;
  if constexpr (InSlots<T>) {
    retained = T::slots().retain(handle);
  } else {
    retained = handles::retain(handle, kKindOf<T>);
  }
  if (retained) return handle;
  handles::report_refused(handle, kKindOf<T>, name);
  return nullptr;
}

template <class T>
void release_handle(T* handle, const char* name) {
  if (handle == nullptr) return;
  const CallerThread inside;  // the last one may wait for the engine's end
  std::optional<size_t> left;
  if constexpr (InSlots<T>) {
    const int64_t found = T::slots().release(handle);
    if (found >= 0) left = static_cast<size_t>(found);
  } else {
    left = handles::release(handle, kKindOf<T>);
  }
  if (!left.has_value()) {
    handles::report_refused(handle, kKindOf<T>, name);
  } else if (*left == 0) {
    delete handle;
  }
}

}  // namespace rc::api
