// The threads of a handle. They share out the tasks of one job at a time, and
// sleep without one: none looks for work on a processor.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "blas/cblas.h"

namespace rc::blas {

class Team {
 public:
  // Does task `task` on thread `thread`, 0 to threads() - 1. Throws nothing.
  using Work = void (*)(void* user, int thread, int64_t task);

  // Starts threads - 1 threads. Throws RC_E_DEVICE if the system refuses one.
  Team(int threads, const Cblas& library);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int threads() const { return threads_; }

  // Does tasks 0 to `tasks` - 1, the calling thread being number 0, and returns
  // when all are done. Any thread may do any task, in any order.
  void run(int64_t tasks, Work work, void* user);

 private:
  void help(int thread);
  void do_tasks(int thread);
  void stop();

  const int threads_;
  const Cblas& library_;
  std::mutex mutex_;
  std::condition_variable begun_;
  std::condition_variable done_;
  // Under the mutex; the work and the tasks stay while a thread is at them.
  uint64_t jobs_ = 0;  // begun so far
  bool open_ = false;  // helpers may still begin with the last
  bool ending_ = false;
  int helping_ = 0;  // helpers that are at it
  Work work_ = nullptr;
  void* user_ = nullptr;
  int64_t tasks_ = 0;
  std::atomic<int64_t> next_{0};
  std::vector<std::thread> team_;
};

// Calls work(thread, task) for each task.
template <class Function>
void run_tasks(Team& team, int64_t tasks, const Function& work) {
  struct Call {
    static void one(void* user, int thread, int64_t task) {
      (*static_cast<const Function*>(user))(thread, task);
    }
  };
  team.run(tasks, Call::one, const_cast<Function*>(&work));
}

}  // namespace rc::blas
