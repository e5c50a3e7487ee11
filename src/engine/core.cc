#include "engine/core.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>

#include "base/compute_thread.h"
#include "engine/step.h"

namespace rc::engine {
namespace {

std::vector<DeviceUsage> used_devices(const model::MemoryPlan& memory) {
  std::vector<DeviceUsage> devices;
  for (const model::DeviceMemory& here : memory.devices) {
    devices.push_back({here.device->id(), here.device->is_gpu()});
  }
  return devices;
}

}  // namespace

void Call::execute(Core& core) noexcept {
  try {
    run(core);
  } catch (Error& error) {
    error_.emplace(std::move(error));
  } catch (const std::bad_alloc&) {
    out_of_memory_ = true;
  } catch (const std::exception& error) {
    try {
      error_.emplace(RC_E_INTERNAL, error.what());
    } catch (...) {
      out_of_memory_ = true;
    }
  }
  // Under the lock: the waiting thread destroys this as soon as it may go on.
  const std::lock_guard lock(mutex_);
  done_ = true;
  changed_.notify_one();
}

void Call::wait() {
  std::unique_lock lock(mutex_);
  engine::wait(changed_, lock, [&] { return done_; });
  if (error_) throw Error(std::move(*error_));
  if (out_of_memory_) throw std::bad_alloc();
}

Core::Core(std::unique_ptr<model::ResidentModel> model,
           const EngineOptions& options)
    : model_(std::move(model)),
      options_(options),
      vocabulary_(
          static_cast<size_t>(model_->file().hyper_parameters().vocabulary)),
      row_size_(static_cast<size_t>(model_->file().output_size())),
      commands_(std::make_shared<CommandQueue>()),
      // Rows that see all of a text, or of a source, are of no use to another.
      pages_(*model_, options.prefix_cache && model_->file().causal() &&
                          model_->file().source() == nullptr),
      used_devices_(used_devices(model_->memory())),
      logits_(row_size_ *
              static_cast<size_t>(model_->options().limits.max_outputs)),
      device_seconds_(used_devices_.size()) {}

void Core::run() noexcept {
  thread_ = std::this_thread::get_id();
  become_compute_thread();
  while (!commands_->stopped()) {
    take_commands();
    if (!step_if_any()) commands_->wait(next_time());
  }
}

bool Core::turn() noexcept {
  thread_ = std::this_thread::get_id();
  const bool asked = take_commands();
  return step_if_any() || asked;
}

bool Core::take_commands() noexcept {
  bool any = false;
  while (Command* command = commands_->take()) {
    command->execute(*this);
    any = true;
  }
  return any;
}

bool Core::step_if_any() noexcept {
  if (may_be_overdue(Clock::now())) end_overdue();
  pages_.sweep();
  const bool any = begin_jobs();
  if (any) do_step();
  return any;
}

void Core::prepare(SessionState& session) {
  pages_.prepare(session);
  session.residence.usage = usage_of(*session.account->tenant);
  add_account(session.account);
}

void Core::add_account(const std::shared_ptr<Account>& account) {
  const std::lock_guard lock(accounts_mutex_);
  bool known = false;
  std::erase_if(accounts_, [&](const std::weak_ptr<Account>& one) {
    known = known || (!one.owner_before(account) && !account.owner_before(one));
    return one.expired();
  });
  if (!known) accounts_.push_back(account);
}

double Core::shortest_stall() const noexcept {
  double shortest = std::numeric_limits<double>::infinity();
  const std::lock_guard lock(accounts_mutex_);
  for (const auto& known : accounts_) {
    const std::shared_ptr<Account> account = known.lock();
    if (account == nullptr) continue;
    const double stall = account->tenant->max_stall;
    if (stall < Tenant::kUsualStall) shortest = std::min(shortest, stall);
  }
  return shortest;
}

void Core::enqueue(const std::shared_ptr<Job>& job) noexcept {
  job->arrival = ++arrivals_;
  try {
    if (!job->session().residence.kept) pages_.add(job->shared_session());
    job->session().jobs.push_back(job);
    look_at_deadline(*job);
  } catch (...) {
    finish_with_exception(job);
  }
}

void Core::receive(const std::shared_ptr<SessionState>& session,
                   int64_t evaluated, const SavedSession& copy) noexcept {
  session->residence.last_used = step_;
  for (const auto& job : session->jobs) {
    job->arrival = ++arrivals_;
    // Steps are counted by each engine; 0 would mean that there was none yet.
    job->last_step = std::min<uint64_t>(job->last_step, 1);
    job->wants_prefix |= job->begun;
    look_at_deadline(*job);
  }
  try {
    pages_.add(session);
  } catch (...) {
    while (!session->jobs.empty()) {
      finish_with_exception(std::shared_ptr(session->jobs.front()));
    }
    return;
  }
  pages_.adopt_shared(*session, evaluated, copy);
}

bool Core::may_be_overdue(Clock::time_point now) const noexcept {
  return commands_->cancelled() || now >= first_deadline_.load();
}

// Also of jobs that were cancelled before they came to their session.
void Core::look_at_deadline(const Job& job) noexcept {
  End end;
  if (job.overdue(Clock::time_point::min(), &end)) {
    first_deadline_.store(Clock::time_point::min());
  } else if (job.deadline() && *job.deadline() < first_deadline_.load()) {
    first_deadline_.store(*job.deadline());
  }
}

void Core::end_overdue() noexcept {
  // Before they are looked at: those that are cancelled meanwhile come next.
  commands_->take_cancelled();
  first_deadline_.store(Clock::time_point::max());
  const Clock::time_point now = Clock::now();
  for (const auto& session : pages_.sessions()) {
    for (size_t i = 0; i < session->jobs.size();) {
      // Only a job that leaves the list gets another shared pointer.
      if (End end; session->jobs[i]->overdue(now, &end)) {
        end_if_overdue(std::shared_ptr(session->jobs[i]), now);
      } else {
        look_at_deadline(*session->jobs[i]);
        ++i;
      }
    }
  }
}

bool Core::end_if_overdue(const std::shared_ptr<Job>& job,
                          Clock::time_point now) noexcept {
  End end;
  if (!job->overdue(now, &end)) return false;
  finish(job, end,
         end.status == RC_E_CANCELLED ? "the request was cancelled"
                                      : "the request's deadline passed");
  return true;
}

std::optional<Clock::time_point> Core::next_time() const noexcept {
  const Clock::time_point first =
      std::min(first_deadline_.load(), first_paced_);
  if (first == Clock::time_point::max()) return std::nullopt;
  return first;
}

// Whether any job is to be stepped.
bool Core::begin_jobs() noexcept {
  bool any = false;
  first_paced_ = Clock::time_point::max();
  const Clock::time_point now = Clock::now();
  for (const auto& session : pages_.sessions()) {
    if (const auto job = session->begun_job();
        job != nullptr && job->holds_logits() && job->ready()) {
      take_held(job);
    }
    while (!session->jobs.empty()) {
      const std::shared_ptr<Job> job = session->jobs.front();
      if (job->begun || !job->ready()) break;
      // A job that this one waited for may have stopped because of that.
      if (end_if_overdue(job, Clock::now())) continue;
      try {
        if (broken_.load()) fail(breakage_, breakage_message_);
        if (const auto end = job->begin(*this)) {
          finish(job, *end, "");
          continue;
        }
        job->begun = true;
      } catch (...) {
        finish_with_exception(job);
      }
    }
    const auto job = session->begun_job();
    if (job == nullptr) continue;
    job->paced = is_paced(*job, now);
    any |= !job->paced && !job->holds_logits();
  }
  return any;
}

bool Core::is_paced(Job& job, Clock::time_point now) noexcept {
  Tenant& tenant = *job.session().account->tenant;
  Clock::time_point until = tenant.may_step_at(job.decoding(), now);
  if (until <= now) return false;
  tenant.wake_on_change(commands_);
  // The limits may have changed before.
  until = tenant.may_step_at(job.decoding(), now);
  if (until <= now) return false;
  first_paced_ = std::min(first_paced_, until);
  return true;
}

void Core::take_held(const std::shared_ptr<Job>& job) noexcept {
  try {
    if (const auto end = job->take_held(*this)) finish(job, *end, "");
  } catch (...) {
    finish_with_exception(job);
  }
}

void Core::finish(const std::shared_ptr<Job>& job, const End& end,
                  const char* message) noexcept {
  SessionState& session = job->session();
  std::erase(session.jobs, job);
  // Pages of a step that did not finish are given back.
  pages_.truncate(session, session.residence.evaluated);
  session.residence.last_used = step_;
  if (job->counts_as_request()) charge(session, {.requests = 1});
  if (job->in_flight()) session.end_request();
  // Before the end is reported: a receiver that drops the engine then has the
  // last reference, and waits for this thread.
  job->forget();
  job->ended(end, message);
}

void Core::finish_with_exception(const std::shared_ptr<Job>& job) noexcept {
  const rc_status status = status_of_current_exception();
  const rc_end_reason reason =
      status == RC_E_CONTEXT_FULL ? RC_END_CONTEXT : RC_END_ERROR;
  // The thread's message may change while the end is reported.
  std::array<char, 1024> message;
  std::snprintf(message.data(), message.size(), "%s", last_error_message());
  finish(job, {reason, status}, message.data());
}

bool Core::device_lost() const noexcept {
  const auto& devices = model_->memory().devices;
  return std::any_of(devices.begin(), devices.end(),
                     [](const model::DeviceMemory& here) {
                       return here.total() > 0 && here.device->lost();
                     });
}

void Core::mark_broken(rc_status status, const char* message) noexcept {
  breakage_ = status;
  std::snprintf(breakage_message_, sizeof breakage_message_, "%s", message);
  broken_.store(true);
}

void Core::do_step() noexcept {
  try {
    Step(*this).run();
  } catch (...) {
    // Only memory for the plan itself can be lacking: nothing was evaluated,
    // and no job in particular is to blame. The youngest job makes room.
    std::shared_ptr<Job> youngest;
    for (const auto& session : pages_.sessions()) {
      const std::shared_ptr<Job> job = session->begun_job();
      if (job == nullptr) continue;
      if (!youngest || job->arrival > youngest->arrival) youngest = job;
    }
    if (youngest) finish_with_exception(youngest);
  }
}

}  // namespace rc::engine
