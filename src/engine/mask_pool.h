// The threads that compute masks, and what else grammars have to do, for the
// generations of all engines of the process.
//
// Work is done in slices. One tenant has at most one slice under way, and
// tenants take turns. A first slice is short and waits for nothing; other work
// goes on in longer ones, on threads that leave the processors to others (see
// become_background_thread). So does all new work of its tenant, once a slice
// was not enough, until some of it is short again.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace rc::engine {

// Work that is done in slices.
class SlicedTask {
 public:
  enum class Slice : uint8_t {
    kDone,
    kMore,  // is left
    kBusy,  // the same, for another thread would have to be waited for
  };

  virtual ~SlicedTask() = default;
  // Does about so many steps (text::grammar::Work) of what is left. Returns
  // kBusy only if not `waits`.
  virtual Slice run_slice(uint64_t steps, bool waits) noexcept = 0;
  // Called by the pool's threads when the task is done.
  virtual void report_done() noexcept = 0;
};

// Any thread may call every function. Threads are started when they are needed
// first, and end with the pool.
class MaskPool {
 public:
  // Steps of a first slice: some milliseconds.
  static constexpr uint64_t kFirstSlice = 10'000;

  // The pool of the process, which lives as long as it is held.
  static std::shared_ptr<MaskPool> shared();

  MaskPool() = default;
  // Waits for the slices under way; what is left is dropped.
  ~MaskPool();
  MaskPool(const MaskPool&) = delete;
  MaskPool& operator=(const MaskPool&) = delete;

  // Has the task done for the tenant. Returns false if the system gives no
  // thread: the caller does it then. Throws std::bad_alloc.
  bool post(std::shared_ptr<SlicedTask> task, const void* tenant);
  // Does the first slice of a task that waits on this thread, if it is the turn
  // of its tenant.
  void run_here(SlicedTask& task, const void* tenant) noexcept;

 private:
  struct Entry {
    std::shared_ptr<SlicedTask> task;
    uint64_t steps = kFirstSlice;  // of the next slice
    bool waits = false;            // for other threads, as it did not get on
  };
  struct Lane;
  // Entries and turns move from list to list, which takes no memory.
  struct Tenant {
    std::list<Entry> waiting;
    std::list<const void*> turn;  // its own address, unless it waits in a lane
    Lane* lane = nullptr;         // where it waits for its turn
    bool running = false;
    bool slow = false;  // its last work did not end with its first slice
  };
  // Threads, and the tenants whose turn on one comes, in this order.
  struct Lane {
    std::vector<std::thread> threads;
    size_t idle = 0;
    std::list<const void*> turns;
    std::condition_variable changed;
  };
  using Tenants = std::map<const void*, Tenant>;

  // Under the lock.
  Lane& lane_of(const Tenant& tenant);
  bool start_thread_if_needed(Lane* lane) noexcept;
  void queue(Tenant* tenant) noexcept;
  void finish(const void* tenant, std::list<Entry> entry,
              SlicedTask::Slice slice) noexcept;

  void run(Lane* lane) noexcept;

  std::mutex mutex_;
  Tenants tenants_;  // that have work, or had slow work
  Lane quick_;
  Lane background_;
  bool stopping_ = false;
};

}  // namespace rc::engine
