#include "cpu/pool.h"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "base/compute_thread.h"
#include "base/error.h"
#include "common/machine.h"

namespace rc::cpu {
namespace {

// A helper without work looks for some on its own for about that many times 40
// nanoseconds before it sleeps: waking it takes longer than most steps, above
// all in a virtual machine. It does not look at all where threads outnumber
// processors and another program could use this one.
constexpr int kLooks = 5000;

// As often it is looked for the end of what a helper is at, which takes less
// where it has its processor, before the caller sleeps.
constexpr int kLooksForEnd = 2500;

}  // namespace

Pool::Pool(int threads, const Nodes* nodes)
    : threads_(threads),
      nodes_(nodes),
      looks_(threads <= plugin::usable_cores() ? kLooks : 0),
      helpers_(threads) {
  try {
    team_.reserve(threads - 1);
    for (int i = 1; i < threads; ++i) {
      team_.emplace_back([this, i] { work(i); });
    }
  } catch (const std::system_error& error) {
    const int started = static_cast<int>(team_.size()) + 1;
    stop();
    fail(RC_E_DEVICE, "cannot start thread ", started, " of ", threads, ": ",
         error.what(), "; ask for fewer threads");
  } catch (...) {
    stop();
    throw;
  }
}

Pool::~Pool() { stop(); }

void Pool::stop() {
  ending_ = true;
  call(true);
  for (std::thread& thread : team_) thread.join();
  team_.clear();
}

void Pool::begin(Job* job) { job_ = job; }

void Pool::end() { job_ = nullptr; }

void Pool::call(bool wake) {
  news_.ring();
  if (wake) news_.wake();
}

bool Pool::left(const Job* job) const {
  return std::none_of(
      helpers_.begin(), helpers_.end(),
      [job](const Helper& helper) { return helper.within == job; });
}

bool Pool::wait_until_left(const Job* job) const {
  for (int i = 0; i < kLooksForEnd; ++i) {
    if (left(job)) return true;
    pause();
  }
  while (!left(job)) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return false;
}

void Pool::work(int thread) {
  become_compute_thread();
  if (nodes_ != nullptr) nodes_->settle(thread);
  std::atomic<const Job*>& within = helpers_[thread].within;
  for (;;) {
    const uint32_t seen = news_.news();
    if (ending_) return;
    if (Job* job = job_) {
      // Announced first, then checked again: either this thread sees the end of
      // the job, or the thread that ends it sees this one within it.
      within = job;
      if (job_ == job) job->help(thread);
      within = nullptr;
    }
    news_.wait(seen, looks_);
  }
}

}  // namespace rc::cpu
