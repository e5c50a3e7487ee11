// A fixed team of threads that does one job at a time.
//
// The caller of run takes part as thread 0. Between jobs and at barriers a
// thread looks for news for a short while and then sleeps, so that an idle pool
// uses no processor and a machine with more threads than processors does not
// collapse.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace rc::cpu {

class Pool {
 public:
  // Starts threads - 1 threads; fails with RC_E_DEVICE if the system refuses
  // one.
  explicit Pool(int threads);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int threads() const { return threads_; }

  // Calls job(data, thread) once on each thread and returns when all have
  // returned. Jobs must not throw. From one thread at a time.
  void run(void (*job)(void* data, int thread), void* data);

  // Within a job: returns when all threads have called it. What a thread wrote
  // before is visible to all after.
  void barrier();

 private:
  void work(int thread);
  void stop();

  const int threads_;
  const int looks_;  // before a thread that waits lets others run
  void (*job_)(void*, int) = nullptr;
  void* data_ = nullptr;
  bool ending_ = false;
  // Each on a cache line of its own.
  alignas(64) std::atomic<uint32_t> jobs_{0};  // counts; waited for
  alignas(64) std::atomic<uint32_t> arrived_{0};
  alignas(64) std::atomic<uint32_t> passed_{0};  // barriers; waited for
  std::vector<std::thread> team_;
};

}  // namespace rc::cpu
