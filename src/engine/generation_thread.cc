#include "engine/generation_thread.h"

#include <system_error>
#include <utility>

#include "base/compute_thread.h"
#include "base/threads.h"
#include "engine/generation.h"

namespace rc::engine {

GenerationThread::~GenerationThread() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

bool GenerationThread::post(std::shared_ptr<Generation> generation, Task task) {
  if constexpr (!kThreads) return false;
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      return false;
    }
  }
  waiting_.push_back({std::move(generation), task});
  changed_.notify_one();
  return true;
}

void GenerationThread::run() noexcept {
  become_compute_thread();
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    // Whoever waited for what is left has been given its end.
    if (stopping_) return;
    Work next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    ((*next.generation).*next.task)();
    next.generation->wake_engine();
    next.generation.reset();
    lock.lock();
  }
}

}  // namespace rc::engine
