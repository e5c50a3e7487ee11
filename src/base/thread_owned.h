// Objects that belong to a thread and are destroyed when it ends.
#pragma once

#include <pthread.h>

#include <memory>
#include <new>
#include <type_traits>

namespace rc {

// A thread's end that is told to a function. The library stays loaded until the
// process ends, so keys are never deleted.
class ThreadKey {
 public:
  explicit ThreadKey(void (*end)(void*)) noexcept
      : exists_(pthread_key_create(&key_, end) == 0) {}
  // False if there is no memory or no key for it.
  bool set(const void* object) const noexcept {
    return exists_ && pthread_setspecific(key_, object) == 0;
  }

 private:
  pthread_key_t key_{};
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
