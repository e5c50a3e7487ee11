// Threads that share pieces of work.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace rc::quantize {

class Crew {
 public:
  // Does piece `i` as worker `worker`, 0 to size() - 1.
  using Work = std::function<void(size_t worker, size_t i)>;

  // `threads` of them, of which the caller's is one; 0: as many as there are
  // processors. Where threads cannot be started there are fewer.
  explicit Crew(int threads);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  size_t size() const { return threads_.size() + 1; }
  // Does pieces 0 to count - 1 and returns when all are done. Throws what one
  // of them threw.
  void run(size_t count, const Work& work);

 private:
  void take_part(size_t worker) noexcept;
  void serve(size_t worker) noexcept;

  std::mutex mutex_;
  std::condition_variable began_, ended_;
  // Under the mutex.
  const Work* work_ = nullptr;
  size_t next_ = 0;
  size_t count_ = 0;
  size_t busy_ = 0;   // pieces that are being done
  size_t round_ = 0;  // calls of run()
  bool over_ = false;
  std::exception_ptr failure_;

  std::vector<std::thread> threads_;
};

}  // namespace rc::quantize
