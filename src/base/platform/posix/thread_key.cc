#include <pthread.h>

#include "base/thread_owned.h"

namespace rc {
namespace {

// Returns whether the system has made one.
bool make_key(uintptr_t* key, void (*end)(void*)) noexcept {
  static_assert(sizeof(pthread_key_t) <= sizeof *key);
  pthread_key_t made{};
  if (pthread_key_create(&made, end) != 0) return false;
  *key = made;
  return true;
}

}  // namespace

ThreadKey::ThreadKey(void (*end)(void*)) noexcept
    : exists_(make_key(&key_, end)) {}

bool ThreadKey::set(const void* object) const noexcept {
  return exists_ &&
         pthread_setspecific(static_cast<pthread_key_t>(key_), object) == 0;
}

}  // namespace rc
