#include "engine/mask_pool.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/compute_thread.h"
#include "base/threads.h"

namespace rc::engine {
namespace {

constexpr size_t kMostThreadsOfLane = 2;

// Tenants without work that are remembered as slow.
constexpr size_t kMostSlowTenants = 1024;

}  // namespace

std::shared_ptr<MaskPool> MaskPool::shared() {
  static std::mutex mutex;
  static std::weak_ptr<MaskPool> present;
  const std::lock_guard lock(mutex);
  std::shared_ptr<MaskPool> pool = present.lock();
  if (pool == nullptr) present = pool = std::make_shared<MaskPool>();
  return pool;
}

MaskPool::~MaskPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  for (Lane* lane : {&quick_, &background_}) {
    lane->changed.notify_all();
    for (std::thread& thread : lane->threads) thread.join();
  }
}

bool MaskPool::post(std::shared_ptr<SlicedTask> task, const void* tenant) {
  if constexpr (!kThreads) return false;
  std::list<Entry> entry;
  entry.push_back({std::move(task)});
  std::list<const void*> turn = {tenant};
  const std::lock_guard lock(mutex_);
  const auto [at, added] = tenants_.try_emplace(tenant);
  Tenant& known = at->second;
  if (added) known.turn = std::move(turn);
  known.waiting.splice(known.waiting.end(), entry);
  if (known.running || known.lane != nullptr) return true;
  if (start_thread_if_needed(&lane_of(known))) {
    queue(&known);
    return true;
  }
  known.waiting.pop_back();
  return false;
}

void MaskPool::run_here(SlicedTask& task, const void* tenant) noexcept {
  std::list<Entry> entry;
  {
    const std::lock_guard lock(mutex_);
    const auto at = tenants_.find(tenant);
    if (at == tenants_.end() || at->second.running || at->second.slow) return;
    Tenant& known = at->second;
    const auto found = std::find_if(
        known.waiting.begin(), known.waiting.end(), [&](const Entry& one) {
          return one.task.get() == &task && one.steps == kFirstSlice;
        });
    if (found == known.waiting.end()) return;
    entry.splice(entry.end(), known.waiting, found);
    if (known.lane != nullptr) {
      std::list<const void*>& turns = known.lane->turns;
      known.turn.splice(known.turn.end(), turns,
                        std::find(turns.begin(), turns.end(), tenant));
      known.lane = nullptr;
    }
    known.running = true;
  }
  const SlicedTask::Slice slice = task.run_slice(kFirstSlice, /*waits=*/false);
  const std::lock_guard lock(mutex_);
  finish(tenant, std::move(entry), slice);
}

// Work of more than a first slice has been found to be slow.
MaskPool::Lane& MaskPool::lane_of(const Tenant& tenant) {
  const bool slow =
      tenant.slow ||
      (!tenant.waiting.empty() && (tenant.waiting.front().waits ||
                                   tenant.waiting.front().steps > kFirstSlice));
  return slow && start_thread_if_needed(&background_) ? background_ : quick_;
}

// Returns false if the lane has no thread.
bool MaskPool::start_thread_if_needed(Lane* lane) noexcept {
  if (lane->idle <= lane->turns.size() &&
      lane->threads.size() < kMostThreadsOfLane) {
    try {
      lane->threads.reserve(kMostThreadsOfLane);
      lane->threads.emplace_back([this, lane] { run(lane); });
    } catch (const std::exception&) {
      // The threads that are there do it.
    }
  }
  return !lane->threads.empty();
}

void MaskPool::queue(Tenant* tenant) noexcept {
  Lane& lane = lane_of(*tenant);
  start_thread_if_needed(&lane);
  lane.turns.splice(lane.turns.end(), tenant->turn);
  tenant->lane = &lane;
  lane.changed.notify_one();
}

// The slice of an entry is over.
void MaskPool::finish(const void* tenant, std::list<Entry> entry,
                      SlicedTask::Slice slice) noexcept {
  const auto at = tenants_.find(tenant);
  Tenant& known = at->second;
  Entry& last = entry.front();
  known.running = false;
  switch (slice) {
    case SlicedTask::Slice::kDone:
      if (last.steps == kFirstSlice) known.slow = false;
      break;
    case SlicedTask::Slice::kMore:
      known.slow = true;
      last.steps *= 2;
      known.waiting.splice(known.waiting.end(), entry);
      break;
    case SlicedTask::Slice::kBusy:
      last.waits = true;
      known.waiting.splice(known.waiting.begin(), entry);
      break;
  }
  if (!known.waiting.empty()) {
    queue(&known);
  } else if (!known.slow || tenants_.size() > kMostSlowTenants) {
    tenants_.erase(at);
  }
}

void MaskPool::run(Lane* lane) noexcept {
  become_compute_thread();
  if (lane == &background_) become_background_thread();
  std::unique_lock lock(mutex_);
  for (;;) {
    ++lane->idle;
    lane->changed.wait(lock, [&] { return stopping_ || !lane->turns.empty(); });
    --lane->idle;
    if (stopping_) return;
    const void* const tenant = lane->turns.front();
    Tenant& known = tenants_.find(tenant)->second;
    known.turn.splice(known.turn.end(), lane->turns, lane->turns.begin());
    known.lane = nullptr;
    known.running = true;
    std::list<Entry> entry;
    entry.splice(entry.end(), known.waiting, known.waiting.begin());
    const bool waits = lane == &background_ || background_.threads.empty();
    lock.unlock();
    const SlicedTask::Slice slice =
        entry.front().task->run_slice(entry.front().steps, waits);
    if (slice == SlicedTask::Slice::kDone) {
      entry.front().task->report_done();
      // Not under the lock: it may be the last reference.
      entry.front().task.reset();
    }
    lock.lock();
    finish(tenant, std::move(entry), slice);
  }
}

}  // namespace rc::engine
