// Keeps the library from starting threads: those of a handle call it, each for
// a part of a product.
#include <mutex>

#include "blas/cblas.h"

namespace rc::blas {
namespace {

// The users of the process's number of threads, and that number before the
// first of them; 0: it has not been changed.
std::mutex mutex;
int users = 0;
int64_t threads_before = 0;

}  // namespace

OneThread::OneThread(const Cblas& library) : library_(library) {
  if (library.omp_get_threads_ != nullptr) {
    omp_threads_ = library.omp_get_threads_();
    library.omp_set_threads_(1);
  }
  if (library.mkl_set_threads_ != nullptr) {
    mkl_threads_ = library.mkl_set_threads_(1);
  }
  const std::lock_guard lock(mutex);
  if (users++ > 0) return;
  // BLIS gives -1 where no threads were asked for: then it uses none.
  if (library.get_threads_ != nullptr && library.get_threads_() > 1) {
    threads_before = library.get_threads_();
    library.set_threads_(1);
  }
  if (library.get_long_threads_ != nullptr && library.get_long_threads_() > 1) {
    threads_before = library.get_long_threads_();
    library.set_long_threads_(1);
  }
}

OneThread::~OneThread() {
  {
    const std::lock_guard lock(mutex);
    if (--users == 0 && threads_before > 0) {
      if (library_.get_threads_ != nullptr) {
        library_.set_threads_(static_cast<int>(threads_before));
      } else {
        library_.set_long_threads_(threads_before);
      }
      threads_before = 0;
    }
  }
  if (library_.mkl_set_threads_ != nullptr) {
    library_.mkl_set_threads_(mkl_threads_);
  }
  if (library_.omp_get_threads_ != nullptr) {
    library_.omp_set_threads_(omp_threads_);
  }
}

}  // namespace rc::blas
