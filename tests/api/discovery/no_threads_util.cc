#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>

#include "no_threads.h"

namespace {

std::atomic<int> g_left{-1};  // negative: as many as are wanted

}  // namespace

// Takes the place of the C library's, for shared libraries too.
extern "C" __attribute__((visibility("default"))) int pthread_create(
    pthread_t* thread, const pthread_attr_t* attributes,
    void* (*function)(void*), void* data) {
  using Function = decltype(&pthread_create);
  static const auto real =
      reinterpret_cast<Function>(dlsym(RTLD_NEXT, "pthread_create"));
  if (g_left.load() >= 0 && g_left.fetch_sub(1) <= 0) {
    g_left = 0;
    return EAGAIN;
  }
  return real(thread, attributes, function, data);
}

namespace rc::test {

void allow_threads(int count) { g_left = count; }

}  // namespace rc::test
