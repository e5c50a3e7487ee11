// Work of the engine thread for a session, in steps: a generation or a decode.
// The jobs of a session run one after the other.
//
// Belongs to the engine thread, but for submission and cancellation.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "engine/command_queue.h"
#include "engine/home.h"
#include "engine/session_state.h"

namespace rc::engine {

using Clock = std::chrono::steady_clock;

// Logits [count, vocabulary] of the rows of a session from position `begin`, or
// what else the model gives for each row.
struct RowLogits {
  std::span<const float> values;
  int64_t begin = 0;
  int64_t count = 0;
};

// The end of a job.
struct End {
  rc_end_reason reason = RC_END_STOP;
  rc_status status = RC_OK;
};

class Job : public Command, public std::enable_shared_from_this<Job> {
 public:
  explicit Job(std::shared_ptr<SessionState> session);

  // Any thread. From here on the engine where the session is keeps the job
  // alive until its end, and the job the engine.
  void submit() noexcept;
  void cancel_job() noexcept;
  // Has the engine thread look whether it is ready.
  void wake_engine() noexcept { home_->wake(); }

  void execute(Core& core) noexcept final;
  void keep(std::shared_ptr<Engine> engine) noexcept final {
    engine_ = std::move(engine);
  }

  // Whether the job should end before it is through, and how. Any thread.
  bool overdue(Clock::time_point now, End* end) const noexcept;

  // Called once, when the job's turn has come: checks it against the session
  // and adds its tokens. Gives an end if there is nothing to do. Throws
  // rc::Error or std::bad_alloc to end with that.
  virtual std::optional<End> begin(Core& core) = 0;
  // Takes what the last step gave. Until then the session's tokens are those
  // that the step was planned for; a job may truncate them to rows that it
  // found right, and add others.
  virtual std::optional<End> take(Core& core, const RowLogits& logits) = 0;
  // Informs the waiting thread, once; must not allocate for its success. The
  // session is free for others already and no longer the job's.
  virtual void ended(const End& end, const char* message) noexcept = 0;

  // Any thread. False: begin(), or take() of what a step gave, has to wait;
  // other jobs go on meanwhile. See wake_engine().
  virtual bool ready() const noexcept { return true; }
  // The logits are there, and there is no other job, but this one is not ready:
  // it may do itself what it waits for, if no other thread has begun.
  virtual void catch_up() noexcept {}

  // Of how many of the session's last tokens take() gets logits. If they are
  // more than a step can give, they come in several steps.
  static constexpr int64_t kEveryRow = INT64_MAX;
  virtual int64_t outputs() const { return 1; }
  // True: the one row is the first of the session's, which are all in one step.
  virtual bool wants_first_row() const { return false; }
  virtual int32_t priority() const { return 0; }
  virtual bool decoding() const { return false; }
  // Whether the session counts it as in flight, and the meter as a request.
  virtual bool in_flight() const { return false; }
  virtual bool counts_as_request() const { return false; }

  const std::optional<Clock::time_point>& deadline() const { return deadline_; }
  SessionState& session() { return *session_; }
  const std::shared_ptr<SessionState>& shared_session() { return session_; }
  // Drops what the job keeps alive; it is over then, and has no session.
  void forget() noexcept;
  bool over() const { return session_ == nullptr; }

  // Greater priority first, then in order of arrival.
  bool ranks_before(const Job& other) const {
    return priority() != other.priority() ? priority() > other.priority()
                                          : arrival < other.arrival;
  }

  // Keeps a copy of the logits until the job is ready(). May throw
  // std::bad_alloc.
  void hold(const RowLogits& logits);
  // Whether there is one: then the job has no rows in any step.
  bool holds_logits() const { return held_.count > 0; }
  // As take(), with that copy.
  std::optional<End> take_held(Core& core);

  // For the step loop.
  uint64_t arrival = 0;
  uint64_t last_step = 0;  // 0: none yet
  bool begun = false;
  bool wants_prefix = false;  // to look into the prefix cache at the next step
  bool paced = false;         // waits for a limit of its tenant
  Clock::time_point submitted = Clock::now();
  Clock::time_point first_step;
  int64_t prompt_tokens = 0;
  int64_t cached_tokens = 0;

 protected:
  std::optional<Clock::time_point> deadline_;

 private:
  const std::shared_ptr<Home> home_;
  std::shared_ptr<Engine> engine_;
  std::shared_ptr<SessionState> session_;
  std::shared_ptr<Job> self_;  // while submitted and not executed
  std::atomic<bool> cancelled_{false};
  std::vector<float> held_values_;
  RowLogits held_;
};

}  // namespace rc::engine
