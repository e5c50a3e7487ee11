#include "base/work_threads.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <utility>

#include "base/deep_stack.h"
#include "base/threads.h"

namespace rc {
namespace {

// Threads without work: how many are started ahead, and how many are kept.
#if defined(__EMSCRIPTEN__)
// A page has a fixed number of workers, on which threads start at once.
constexpr size_t kWaiting = 0;
constexpr size_t kMostWaiting = 1;
#else
constexpr size_t kWaiting = 1;
constexpr size_t kMostWaiting = 4;
#endif

class WorkThreads {
 public:
  void prepare() noexcept {
    const std::lock_guard lock(mutex_);
    start_missing();
  }

  void run(std::function<void()> function) {
    const std::lock_guard lock(mutex_);
    if (threads_ == 0 || (kWaiting == 0 && free_ <= work_.size())) start();
    work_.push_back(std::move(function));
    // No thread was left when the last work began.
    if (refused_) start_missing();
    changed_.notify_one();
  }

 private:
  // As many as have no work, and one more where one is to wait.
  void start_missing() noexcept {
    try {
      while (free_ < work_.size() + kWaiting) start();
      refused_ = false;
    } catch (const std::exception&) {
      refused_ = true;
    }
  }

  // Under the lock.
  void start() {
    start_deep_thread(
        [](void* self) { static_cast<WorkThreads*>(self)->work(); }, this);
    ++free_;
    ++threads_;
  }

  // Not noexcept: a function may end the thread.
  void work() {
    struct Leaving {
      WorkThreads& threads;
      std::unique_lock<std::mutex>& lock;
      ~Leaving() {
        if (!lock.owns_lock()) lock.lock();
        --threads.threads_;
      }
    };
    std::unique_lock lock(mutex_);
    const Leaving leaving{*this, lock};
    for (;;) {
      changed_.wait(lock, [this] { return !work_.empty(); });
      std::function<void()> next = std::move(work_.front());
      work_.pop_front();
      --free_;
      start_missing();
      lock.unlock();
      next();
      // Not under the lock: what it holds may be released now.
      next = nullptr;
      lock.lock();
      if (free_ >= work_.size() + kMostWaiting) return;
      ++free_;
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  size_t threads_ = 0;
  size_t free_ = 0;  // threads that wait, or are about to
  bool refused_ = false;
};

// Lives to the end of the process, as its threads do.
WorkThreads& work_threads() {
  static auto* const threads = new WorkThreads;
  return *threads;
}

}  // namespace

void prepare_work_threads() noexcept {
  if constexpr (!kThreads) return;
  try {
    work_threads().prepare();
  } catch (const std::bad_alloc&) {
    // The threads are started later.
  }
}

void run_on_work_thread(std::function<void()> function) {
  work_threads().run(std::move(function));
}

}  // namespace rc
