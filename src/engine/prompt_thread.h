// A thread that tokenizes prompts, one after the other, so that a long one
// holds up neither its sender's event loop nor the engine thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

namespace rc::engine {

class Generation;

// Any thread may post. The thread is started by the first prompt.
class PromptThread {
 public:
  PromptThread() = default;
  // Ends the thread and waits for it.
  ~PromptThread();
  PromptThread(const PromptThread&) = delete;
  PromptThread& operator=(const PromptThread&) = delete;

  // Has read_prompt() called. False if the system gives no thread: the caller
  // does it then. Throws std::bad_alloc.
  bool post(std::shared_ptr<Generation> generation);

 private:
  void run() noexcept;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Generation>> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace rc::engine
