// Objects that belong to a thread and are destroyed when it ends.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>

namespace rc {

// Calls a function at the end of each thread that has set an object. The
// library stays loaded until the process ends, so keys are never deleted.
class ThreadKey {
 public:
  explicit ThreadKey(void (*end)(void* object)) noexcept;
  // Returns false if there is no memory or no key for it.
  bool set(const void* object) const noexcept;

 private:
  uintptr_t key_ = 0;  // of the system
  const bool exists_;
};

// The T of each thread. A thread_local object with a destructor must not be
// used instead: C libraries end the process if they have no memory to register
// the destructor.
template <class T>
class ThreadOwned {
  static_assert(std::is_nothrow_default_constructible_v<T>);
  static_assert(std::is_nothrow_destructible_v<T>);

 public:
  // The object of the calling thread, which is made at the first call. Returns
  // nullptr if there is no memory for it, or if the thread is ending and has
  // destroyed it. The main thread of a process never destroys its object unless
  // it ends alone.
  static T* get() noexcept {
    return t_object != nullptr || t_ended ? t_object : make();
  }

 private:
  static T* make() noexcept {
    static const ThreadKey key(end);
    std::unique_ptr<T> object(new (std::nothrow) T);
    if (object == nullptr || !key.set(object.get())) return nullptr;
    return t_object = object.release();
  }
  static void end(void* object) noexcept {
    t_ended = true;
    t_object = nullptr;
    delete static_cast<T*>(object);
  }

  static constinit inline thread_local T* t_object = nullptr;
  static constinit inline thread_local bool t_ended = false;
};

}  // namespace rc
