#include "base/library_thread.h"

#include <pthread.h>

#include "base/float_environment.h"

namespace rc {

void become_library_thread() noexcept {
  int before = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  set_default_floats();
}

}  // namespace rc
