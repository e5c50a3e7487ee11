#include "files/quantize/crew.h"

#include <algorithm>

#include "base/compute_thread.h"

namespace rc::quantize {

Crew::Crew(int threads) {
  const size_t wanted = threads > 0 ? static_cast<size_t>(threads)
                                    : std::thread::hardware_concurrency();
  if (wanted < 2) return;
  threads_.reserve(wanted - 1);
  try {
    while (threads_.size() + 1 < wanted) {
      const size_t worker = threads_.size() + 1;
      threads_.emplace_back([this, worker] {
        become_compute_thread();
        serve(worker);
      });
    }
  } catch (const std::exception&) {
    // No thread, or no memory for one. There are enough to go on with: the
    // caller's is one, and those that have begun must be joined.
  }
}

Crew::~Crew() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  began_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Crew::run(size_t count, const Work& work) {
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    next_ = 0;
    count_ = count;
    failure_ = nullptr;
    ++round_;
  }
  began_.notify_all();
  take_part(0);
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return busy_ == 0; });
  work_ = nullptr;
  if (failure_ != nullptr) std::rethrow_exception(failure_);
}

void Crew::take_part(size_t worker) noexcept {
  std::unique_lock lock(mutex_);
  while (next_ < count_) {
    const size_t i = next_++;
    ++busy_;
    const Work& work = *work_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      work(worker, i);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    --busy_;
    if (failure != nullptr) {
      if (failure_ == nullptr) failure_ = failure;
      next_ = count_;  // the rest is for nothing
    }
  }
  if (busy_ == 0) ended_.notify_all();
}

void Crew::serve(size_t worker) noexcept {
  size_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      began_.wait(lock, [&] { return over_ || round_ != seen; });
      if (over_) return;
      seen = round_;
    }
    take_part(worker);
  }
}

}  // namespace rc::quantize
