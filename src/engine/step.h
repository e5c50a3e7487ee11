// One step: asks the scheduler who gets rows, prepares their pages, runs the
// batch and hands the logits to the jobs.
//
// Belongs to the engine thread.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "engine/core.h"

namespace rc::engine {

class Step {
 public:
  explicit Step(Core& core) : core_(core) {}
  // Throws std::bad_alloc only, before anything is evaluated.
  void run();

 private:
  struct Share {
    std::shared_ptr<Job> job;
    // Of its session, also when the job is over.
    std::shared_ptr<Account> account;
    ModelUsage* usage = nullptr;
    int64_t rows = 0;
    size_t first_output = 0;
    size_t outputs = 0;
    bool reads_source = false;
  };

  void collect();
  Schedule plan();
  // Frees pages when the plan gives no job a row; ends the first job if that is
  // in vain.
  void resolve_stall();
  void add(const std::shared_ptr<Job>& job, int64_t rows);
  // The most of a job's `left` rows for whose logits the batch has room: what
  // comes from the prefix cache brings its last rows into the step earlier than
  // the plan could know.
  int64_t rows_within_outputs(const Job& job, int64_t left) const;
  // Returns the next `rows` rows of a job's session.
  model::SequenceRows sequence_rows(Job& job, int64_t rows) const;
  // Notes which tenants a batch is for, by their rows.
  void pay(model::Batch& batch, bool reads_source) const;
  void evaluate();
  // Notes who would have used more rows than the plan gives.
  void note_backlog(const std::vector<Candidate>& candidates,
                    const Schedule& schedule);
  // Charges the step to those for whom it was, by their rows, however it ended.
  void charge_work(double seconds) noexcept;
  void hand_out(const Share& share);
  void fail_all(rc_status status, const char* message) noexcept;
  // Asked while the device works: ends the jobs that are overdue, whether they
  // are in this step or not, and those of a step whose time is over. Says to
  // stop if that leaves prompt rows that no job wants.
  int32_t should_stop() noexcept;

  Core& core_;
  std::vector<std::shared_ptr<Job>> jobs_;  // all that could have rows
  model::Batch batch_;
  model::Batch sources_;  // to be read before
  FairShare::Uses uses_;  // of the tenants of jobs_
  std::vector<Share> shares_;
  std::optional<Clock::time_point> limit_;  // of the evaluation
  Clock::time_point look_at_all_;           // next, for jobs that are overdue
  std::atomic<bool> stopped_{false};
};

}  // namespace rc::engine
