// A thread that does what generations need done beside the engine thread, one
// after the other: tokenizing prompts, so that a long one holds up neither its
// sender's event loop nor the engine.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

namespace rc::engine {

class Generation;

// Any thread may post. The thread is started by the first task.
class GenerationThread {
 public:
  using Task = void (Generation::*)() noexcept;

  GenerationThread() = default;
  // Ends the thread and waits for it.
  ~GenerationThread();
  GenerationThread(const GenerationThread&) = delete;
  GenerationThread& operator=(const GenerationThread&) = delete;

  // Has the task done. False if the system gives no thread: the caller does it
  // then. Throws std::bad_alloc.
  bool post(std::shared_ptr<Generation> generation, Task task);

 private:
  struct Work {
    std::shared_ptr<Generation> generation;
    Task task;
  };
  void run() noexcept;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace rc::engine
