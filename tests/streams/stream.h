// Streams and events of a stand-in: the work of a stream is done by a thread,
// in its order, so that what does not wait for it finds nothing of it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace rc::stand_in {

using Task = std::function<void()>;
using Graph = std::vector<Task>;

class Stream {
 public:
  Stream();
  // Waits for its work.
  ~Stream();

  void add(Task task);
  // What is added from now on goes to a graph.
  void begin_capture();
  std::unique_ptr<Graph> end_capture();
  void wait();

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  std::unique_ptr<Graph> captured_;
  bool ends_ = false;
  std::thread thread_;
};

// Waits for all streams, as memory is freed only after what is under way.
void wait_for_all();

// Work that is under way may outlive the handle.
class Event {
 public:
  // After what is in the stream.
  void record(Stream* stream);
  bool is_over() const;
  void wait() const;
  // Of its last recording.
  std::chrono::steady_clock::time_point when() const;

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    long recorded = 0;
    long over = 0;
    std::chrono::steady_clock::time_point when;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace rc::stand_in
