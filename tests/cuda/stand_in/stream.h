// Streams of the stand-in for NVIDIA's driver library: the work of one is done
// by a thread, in its order, so that what does not wait for it finds nothing of
// it.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "cuda/api.h"

namespace rc::cuda {

using Graph = std::vector<std::function<void()>>;

class Stream {
 public:
  Stream() : thread_([this] { work(); }) {}
  ~Stream() {
    add([this] { ends_ = true; });
    thread_.join();
  }

  void add(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    if (captured_ != nullptr) {
      captured_->push_back(std::move(task));
      return;
    }
    tasks_.push_back(std::move(task));
    changed_.notify_all();
  }
  // What is added from now on goes to a graph.
  void begin_capture() {
    const std::lock_guard lock(mutex_);
    captured_ = std::make_unique<Graph>();
  }
  std::unique_ptr<Graph> end_capture() {
    const std::lock_guard lock(mutex_);
    return std::move(captured_);
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return tasks_.empty(); });
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (!ends_) {
      changed_.wait(lock, [this] { return !tasks_.empty(); });
      const std::function<void()> task = tasks_.front();
      lock.unlock();
      task();
      lock.lock();
      // It counts until it is done.
      tasks_.pop_front();
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::unique_ptr<Graph> captured_;
  bool ends_ = false;
  std::thread thread_;
};

inline Stream* stream_of(CUstream handle) {
  return reinterpret_cast<Stream*>(handle);
}

// Waits for all streams, as memory is freed only after what is under way.
void wait_for_all();

}  // namespace rc::cuda
