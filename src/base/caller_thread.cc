#include "base/caller_thread.h"

#include <pthread.h>

namespace rc {

CallerThread::CallerThread() noexcept {
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling_);
}

CallerThread::~CallerThread() noexcept(false) {
  if (cancelling_ == PTHREAD_CANCEL_DISABLE) return;
  pthread_setcancelstate(cancelling_, nullptr);
}

}  // namespace rc
