#include "engine/job.h"

#include <utility>

#include "engine/core.h"

namespace rc::engine {

std::shared_ptr<Job> SessionState::begun_job() const {
  return jobs.empty() || !jobs.front()->begun ? nullptr : jobs.front();
}

std::shared_ptr<Job> SessionState::active_job() const {
  auto job = begun_job();
  return job == nullptr || job->paced ? nullptr : job;
}

void charge(const SessionState& session, const Counts& counts,
            uint64_t evaluated) noexcept {
  session.account->meter.add(counts);
  session.account->tenant->add(*session.residence.usage, counts, evaluated);
}

Job::Job(std::shared_ptr<SessionState> session)
    : home_(session->home), session_(std::move(session)) {}

void Job::submit() noexcept {
  self_ = shared_from_this();
  home_->post(*this);
}

void Job::cancel_job() noexcept {
  cancelled_.store(true);
  home_->wake_for_cancelled();
}

void Job::execute(Core& core) noexcept {
  const std::shared_ptr<Job> self = std::move(self_);
  core.enqueue(self);
}

bool Job::overdue(Clock::time_point now, End* end) const noexcept {
  if (cancelled_.load()) {
    *end = {RC_END_CANCELLED, RC_E_CANCELLED};
    return true;
  }
  if (deadline_ && now >= *deadline_) {
    *end = {RC_END_DEADLINE, RC_E_DEADLINE};
    return true;
  }
  return false;
}

void Job::hold(const RowLogits& logits) {
  held_values_.assign(logits.values.begin(), logits.values.end());
  held_ = {held_values_, logits.begin, logits.count};
}

std::optional<End> Job::take_held(Core& core) {
  const RowLogits held = std::exchange(held_, {});
  return take(core, held);
}

void Job::forget() noexcept {
  session_.reset();
  engine_.reset();
}

}  // namespace rc::engine
