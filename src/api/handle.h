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
  kEmbedding
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

// Gives an object out as a handle with one reference.
template <class T>
T* add_handle(std::unique_ptr<T> object) {
  handles::add(object.get(), kKindOf<T>);
  return object.release();
}

template <class T>
T& need(T* handle, const char* name) {
  if (!handles::contains(handle, kKindOf<T>)) {
    handles::refuse(handle, kKindOf<T>, name);
  }
  return *handle;
}

// nullptr, with the thread's message set, if it is no such handle.
template <class T>
T* retain_handle(T* handle, const char* name) noexcept {
  if (handles::retain(handle, kKindOf<T>)) return handle;
  handles::report_refused(handle, kKindOf<T>, name);
  return nullptr;
}

template <class T>
void release_handle(T* handle, const char* name) {
  if (handle == nullptr) return;
  const CallerThread inside;  // the last one may wait for the engine's end
  const std::optional<size_t> left = handles::release(handle, kKindOf<T>);
  if (!left.has_value()) {
    handles::report_refused(handle, kKindOf<T>, name);
  } else if (*left == 0) {
    delete handle;
  }
}

}  // namespace rc::api
