#include "blas/team.h"

#include <algorithm>
#include <system_error>

#include "base/error.h"

namespace rc::blas {
namespace {

// OpenBLAS has memory for so many callers, and prints a warning where there are
// more. These are threads of all handles that compute now.
class Callers {
 public:
  // Waits for a place.
  void enter(int most) {
    std::unique_lock lock(mutex_);
    left_.wait(lock, [&] { return count_ < most; });
    ++count_;
  }
  // False: there is no place.
  bool try_enter(int most) {
    const std::lock_guard lock(mutex_);
    if (count_ >= most) return false;
    ++count_;
    return true;
  }
  void leave() {
    {
      const std::lock_guard lock(mutex_);
      --count_;
    }
    left_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable left_;
  int count_ = 0;
};

// Never destroyed: a thread may compute while the process ends.
Callers& callers() {
  static auto* const all = new Callers;
  return *all;
}

}  // namespace

Team::Team(int threads, const Cblas& library)
    : threads_(threads), library_(library) {
  try {
    team_.reserve(static_cast<size_t>(threads) - 1);
    for (int i = 1; i < threads; ++i) {
      team_.emplace_back([this, i] { help(i); });
    }
  } catch (const std::system_error& error) {
    const size_t started = team_.size() + 1;
    stop();
    fail(RC_E_DEVICE, "cannot start thread ", started, " of ", threads, ": ",
         error.what(), "; ask for fewer threads");
  } catch (...) {
    stop();
    throw;
  }
}

Team::~Team() { stop(); }

void Team::stop() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  begun_.notify_all();
  for (std::thread& thread : team_) thread.join();
  team_.clear();
}

void Team::do_tasks(int thread) {
  const OneThread alone(library_);
  for (int64_t task; (task = next_.fetch_add(1)) < tasks_;) {
    work_(user_, thread, task);
  }
}

void Team::run(int64_t tasks, Work work, void* user) {
  callers().enter(library_.most_callers());
  const auto helpers = std::min<int64_t>(tasks - 1, threads_ - 1);
  {
    const std::lock_guard lock(mutex_);
    work_ = work;
    user_ = user;
    tasks_ = tasks;
    next_ = 0;
    open_ = helpers > 0;
    ++jobs_;
  }
  if (helpers == threads_ - 1) {
    begun_.notify_all();
  } else {
    for (int64_t i = 0; i < helpers; ++i) begun_.notify_one();
  }
  do_tasks(0);
  {
    std::unique_lock lock(mutex_);
    open_ = false;
    done_.wait(lock, [&] { return helping_ == 0; });
  }
  callers().leave();
}

void Team::help(int thread) {
  uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    begun_.wait(lock, [&] { return ending_ || (open_ && jobs_ != seen); });
    if (ending_) return;
    seen = jobs_;
    if (!callers().try_enter(library_.most_callers())) continue;
    ++helping_;
    lock.unlock();
    do_tasks(thread);
    callers().leave();
    lock.lock();
    if (--helping_ == 0) done_.notify_one();
  }
}

}  // namespace rc::blas
