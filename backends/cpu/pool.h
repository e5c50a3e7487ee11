// A fixed team of threads that help with one job at a time.
//
// The caller's thread does the job and is never kept waiting for a helper that
// has not begun: who is awake joins in, who has no processor comes later or not
// at all. An idle pool uses no processor.
#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include "cpu/event_count.h"
#include "cpu/nodes.h"

namespace rc::cpu {

class Pool {
 public:
  // The work for which the team is called.
  class Job {
   public:
    // Does what there is to do and returns when there is nothing left for the
    // calling thread at the moment. Called by several threads at once, and
    // again after call(); also just after end(). Must not throw.
    virtual void help(int thread) = 0;

   protected:
    ~Job() = default;
  };

  // Starts threads - 1 threads, which settle on `nodes` if there are some;
  // those live longer. Fails with RC_E_DEVICE if the system refuses a thread.
  explicit Pool(int threads, const Nodes* nodes = nullptr);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int threads() const { return threads_; }

  // From begin to end helpers take part, as threads 1 to threads() - 1. One
  // job at a time.
  void begin(Job* job);
  void end();
  // There is something to do for helpers. Those who sleep are woken only if
  // that is worth it: it takes some microseconds.
  void call(bool wake);
  bool all_asleep() const { return news_.asleep() == threads_ - 1; }

  // Of a job that is not under way: whether no helper is within job->help() any
  // more.
  bool left(const Job* job) const;
  // False: one has lost its processor meanwhile.
  bool wait_until_left(const Job* job) const;
  // So it is for a while: what is soon done without helpers, and would have to
  // wait for one that has begun, had better not call them.
  void is_crowded() { crowded_.store(kCrowdedJobs, std::memory_order_relaxed); }
  // To be asked once for each such job.
  bool crowded() {
    const int left = crowded_.load(std::memory_order_relaxed);
    if (left > 0) crowded_.store(left - 1, std::memory_order_relaxed);
    return left > 0;
  }

 private:
  static constexpr int kCrowdedJobs = 200;

  void work(int thread);
  void stop();

  // The job that a helper may be within. Fills a cache line.
  struct alignas(64) Helper {
    std::atomic<const Job*> within{nullptr};
  };

  const int threads_;
  const Nodes* const nodes_;
  const int looks_;  // of a helper before it sleeps
  std::atomic<Job*> job_{nullptr};
  std::atomic<bool> ending_{false};
  std::atomic<int> crowded_{0};
  EventCount news_;
  std::vector<Helper> helpers_;
  std::vector<std::thread> team_;
};

}  // namespace rc::cpu
