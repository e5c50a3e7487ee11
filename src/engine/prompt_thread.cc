#include "engine/prompt_thread.h"

#include <system_error>
#include <utility>

#include "base/compute_thread.h"
#include "engine/generation.h"

namespace rc::engine {

PromptThread::~PromptThread() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

bool PromptThread::post(std::shared_ptr<Generation> generation) {
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      return false;
    }
  }
  waiting_.push_back(std::move(generation));
  changed_.notify_one();
  return true;
}

void PromptThread::run() noexcept {
  become_compute_thread();
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    // Whoever waited for what is left has been given its end.
    if (stopping_) return;
    std::shared_ptr<Generation> next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    next->read_prompt();
    next->wake_engine();
    next.reset();
    lock.lock();
  }
}

}  // namespace rc::engine
