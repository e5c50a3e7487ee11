#include "engine/prompt_readers.h"

#include <deque>
#include <exception>
#include <list>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "base/threads.h"
#include "base/work_threads.h"
#include "engine/generation.h"

namespace rc::engine {
namespace {

// Beyond as many tenants with prompts they share the processors in turns of
// whole prompts.
constexpr size_t kMostReaders = 8;

class PromptReaders {
 public:
  bool post(std::shared_ptr<Generation> generation, const void* tenant) {
    std::list<const void*> turn = {tenant};
    const std::lock_guard lock(mutex_);
    const auto [at, added] = tenants_.try_emplace(tenant);
    try {
      at->second.push_back(std::move(generation));
    } catch (const std::bad_alloc&) {
      if (added) tenants_.erase(at);
      throw;
    }
    if (!added) return true;
    try {
      if (readers_ < kMostReaders) {
        run_on_work_thread([this] { run(); });
        ++readers_;
      }
    } catch (const std::exception&) {
      // Any reader that is there does it.
      if (readers_ == 0) {
        tenants_.erase(at);
        return false;
      }
    }
    turns_.splice(turns_.end(), turn);
    return true;
  }

 private:
  using Tenants =
      std::map<const void*, std::deque<std::shared_ptr<Generation>>>;

  // Reads prompts as long as there are any that no other thread reads.
  void run() noexcept {
    std::list<const void*> turn;
    std::unique_lock lock(mutex_);
    while (!turns_.empty()) {
      turn.splice(turn.end(), turns_, turns_.begin());
      // A tenant is known as long as it has a turn, or a prompt is read.
      const auto at = tenants_.find(turn.front());
      std::shared_ptr<Generation> next = std::move(at->second.front());
      at->second.pop_front();
      lock.unlock();
      next->read_prompt();
      next->wake_engine();
      // Not under the lock: it may be the last reference.
      next.reset();
      lock.lock();
      if (at->second.empty()) {
        tenants_.erase(at);
        turn.clear();
      } else {
        turns_.splice(turns_.end(), turn);
      }
    }
    --readers_;
  }

  std::mutex mutex_;
  // Those with prompts that wait or are read.
  Tenants tenants_;
  // Those whose prompts wait and none of which is read.
  std::list<const void*> turns_;
  size_t readers_ = 0;
};

// Lives to the end of the process, as the threads do.
PromptReaders& readers() {
  static auto* const all = new PromptReaders;
  return *all;
}

}  // namespace

bool read_prompt_later(std::shared_ptr<Generation> generation,
                       const void* tenant) {
  if constexpr (!kThreads) return false;
  return readers().post(std::move(generation), tenant);
}

}  // namespace rc::engine
