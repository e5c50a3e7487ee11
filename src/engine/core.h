// The engine thread: its commands, the jobs of its sessions, and the steps.
//
// Threads: run() is the engine thread; commands() and call() are for any other
// thread, everything else for the engine thread alone.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "engine/command_queue.h"
#include "engine/engine.h"
#include "engine/fair_share.h"
#include "engine/job.h"
#include "engine/mask_pool.h"
#include "engine/page_keeper.h"
#include "engine/scheduler.h"
#include "engine/turns.h"

namespace rc::engine {

// A function to be done on the engine thread while the caller waits.
class Call : public Command {
 public:
  void execute(Core& core) noexcept final;
  // Waits until it is done and throws what it threw.
  void wait();

 private:
  virtual void run(Core& core) = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  bool out_of_memory_ = false;
  std::optional<Error> error_;
};

// Does function(core) on the engine thread to which post(command) sends it, and
// waits; throws what it throws.
template <class Post, class Function>
void call_engine(Post&& post, Function&& function) {
  class Bound final : public Call {
   public:
    explicit Bound(Function& function) : function_(function) {}

   private:
    void run(Core& core) override { function_(core); }
    Function& function_;
  };
  if constexpr (!kThreads) Turns::check_outside();
  Bound bound(function);
  post(bound);
  bound.wait();
}

class Core {
 public:
  Core(std::unique_ptr<model::ResidentModel> model,
       const EngineOptions& options);

  const std::shared_ptr<CommandQueue>& commands() const { return commands_; }

  // Does function(core) on the engine thread; throws what it throws.
  template <class Function>
  void call(Function&& function) {
    call_engine([&](Command& command) { commands_->post(command); },
                std::forward<Function>(function));
  }

  // The engine thread, until the queue is stopped.
  void run() noexcept;
  // In a program without threads (turns.h): what is asked for now, and a step
  // if a job needs one; whether there was either.
  bool turn() noexcept;
  // When a job that waits may be overdue, or may have rows again, unless it
  // ends before.
  std::optional<Clock::time_point> next_time() const noexcept;

  // Whether the device is lost, so that no step can succeed any more.
  bool broken() const noexcept { return broken_.load(); }

  void enqueue(const std::shared_ptr<Job>& job) noexcept;
  // Takes a session that has moved here, with its jobs. `evaluated` of its
  // positions were evaluated where it was; those of them are used that `copy`,
  // which is perhaps older, has as the session has them.
  void receive(const std::shared_ptr<SessionState>& session, int64_t evaluated,
               const SavedSession& copy) noexcept;
  const std::shared_ptr<MaskPool>& masks() const { return masks_; }
  // Forgets a session that moves away; its jobs go with it.
  void release(SessionState& session) noexcept { pages_.remove(session); }
  // Reserves what a new session needs, so that steps need no memory for it. Any
  // thread. Throws std::bad_alloc.
  void prepare(SessionState& session);
  // Adds an account whose sessions are, or were, on this engine. Any thread.
  // Throws std::bad_alloc.
  void add_account(const std::shared_ptr<Account>& account);
  // Returns the shortest time of a step that a tenant of these accounts asks
  // for; more than Tenant::kUsualStall if none asks for less.
  double shortest_stall() const noexcept;
  // The counts of a tenant for this engine. Any thread. Throws std::bad_alloc.
  ModelUsage* usage_of(Tenant& tenant) const {
    return tenant.usage_of(model_->file().file().name(), used_devices_);
  }
  model::ResidentModel& model() { return *model_; }
  const EngineOptions& options() const { return options_; }
  PageKeeper& pages() { return pages_; }
  size_t vocabulary() const { return vocabulary_; }
  // Elements of a row that the model gives: logits, a hidden row, or scores.
  size_t row_size() const { return row_size_; }
  uint64_t step_number() const { return step_; }

  // For steps, of which each counts itself first.
  void count_step() { ++step_; }
  StepClock& clock() { return clock_; }
  FairShare& fair_share() { return fair_share_; }
  std::span<float> logits() { return logits_; }
  // Memory of a number for each device.
  std::span<double> device_seconds() { return device_seconds_; }
  // False on the threads of a plugin, which may ask whether to stop.
  bool on_engine_thread() const {
    return std::this_thread::get_id() == thread_;
  }
  // False: no job was cancelled, and no deadline has passed, since they were
  // all looked at. There may be thousands. On any thread.
  bool may_be_overdue(Clock::time_point now) const noexcept;
  // Looks at all, and ends those that were cancelled or whose deadline has
  // passed.
  void end_overdue() noexcept;
  // Whether it was, and has ended.
  bool end_if_overdue(const std::shared_ptr<Job>& job,
                      Clock::time_point now) noexcept;
  // The job's session goes on to its next job.
  void finish(const std::shared_ptr<Job>& job, const End& end,
              const char* message) noexcept;
  // As finish, with the exception being handled.
  void finish_with_exception(const std::shared_ptr<Job>& job) noexcept;
  // Whether one of the model's devices is lost or given up.
  bool device_lost() const noexcept;
  // No step can succeed any more; new jobs end with this.
  void mark_broken(rc_status status, const char* message) noexcept;

 private:
  void look_at_deadline(const Job& job) noexcept;
  // Whether there were any.
  bool take_commands() noexcept;
  // Whether any job needed one.
  bool step_if_any() noexcept;
  bool begin_jobs() noexcept;
  // Whether a limit of its tenant holds up a job; if so, this engine looks
  // again in time.
  bool is_paced(Job& job, Clock::time_point now) noexcept;
  void take_held(const std::shared_ptr<Job>& job) noexcept;
  void do_step() noexcept;

  std::unique_ptr<model::ResidentModel> model_;
  const EngineOptions options_;
  const size_t vocabulary_;
  const size_t row_size_;
  const std::shared_ptr<CommandQueue> commands_;
  const std::shared_ptr<MaskPool> masks_ = MaskPool::shared();
  PageKeeper pages_;
  const std::vector<DeviceUsage> used_devices_;  // those of the memory plan
  // No job's deadline is before. Set on the engine thread.
  std::atomic<Clock::time_point> first_deadline_{Clock::time_point::max()};
  // When the first of the jobs that wait for a limit of their tenant may have
  // rows.
  Clock::time_point first_paced_ = Clock::time_point::max();
  mutable std::mutex accounts_mutex_;
  std::vector<std::weak_ptr<Account>> accounts_;
  StepClock clock_;
  FairShare fair_share_;
  std::thread::id thread_;     // the engine thread's
  std::vector<float> logits_;  // [max_outputs, row_size]
  std::vector<double> device_seconds_;
  uint64_t step_ = 0;
  uint64_t arrivals_ = 0;
  std::atomic<bool> broken_{false};
  rc_status breakage_ = RC_OK;
  char breakage_message_[1024] = "";
};

}  // namespace rc::engine
