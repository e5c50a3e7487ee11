#include "base/caller_thread.h"

#include <pthread.h>

#include "base/float_environment.h"

namespace rc {
namespace {

// The innermost that has changed the environment.
thread_local const CallerThread* t_inside = nullptr;

}  // namespace

CallerThread::CallerThread() noexcept : default_floats_(has_default_floats()) {
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling_);
  if (default_floats_) return;
  std::fegetenv(&floats_);
  set_default_floats();
  outer_ = t_inside;
  t_inside = this;
}

CallerThread::~CallerThread() noexcept(false) {
  if (!default_floats_) {
    t_inside = outer_;
    std::fesetenv(&floats_);
  }
  if (cancelling_ == PTHREAD_CANCEL_DISABLE) return;
  pthread_setcancelstate(cancelling_, nullptr);
}

CallerFloats::CallerFloats() noexcept : inside_(t_inside) {
  if (inside_ != nullptr) std::fesetenv(&inside_->floats_);
}

CallerFloats::~CallerFloats() {
  if (inside_ != nullptr) set_default_floats();
}

}  // namespace rc
