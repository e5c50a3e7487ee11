#include "engine/step.h"
#include "base/time_limit.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace rc::engine {
namespace {

// The longest time of a step without streams: new requests and session calls
// wait for the end of the step.
constexpr double kStepSecondsWithoutDecoding = 0.4;

// Tokens just generated that a job may have evaluated at once, ahead of
// prompts.
constexpr int64_t kMostDecodingRows = 16;

// During a step jobs that are not part of it may be a thousand, of which to ask
// each every millisecond would be felt.
constexpr std::chrono::milliseconds kBetweenLooksAtAll{5};

bool ranks_before(const std::shared_ptr<Job>& a,
                  const std::shared_ptr<Job>& b) {
  return a->ranks_before(*b);
}

}  // namespace

void Step::run() {
  core_.count_step();
  collect();
  const Schedule schedule = plan();
  for (size_t victim : schedule.preempted) {
    core_.pages().truncate(jobs_[victim]->session(), 0);
    jobs_[victim]->wants_prefix = true;
  }
  bool any = false;
  for (size_t i = 0; i < jobs_.size(); ++i) {
    if (schedule.rows[i] == 0) continue;
    any = true;
    add(jobs_[i], schedule.rows[i]);
  }
  if (!shares_.empty()) {
    evaluate();
  } else if (!any) {
    resolve_stall();
  }
}

void Step::collect() {
  core_.pages().begin_step();
  for (const auto& session : core_.pages().sessions()) {
    auto job = session->active_job();
    if (job == nullptr || job->holds_logits()) continue;
    if (core_.pages().settle(*session)) job->wants_prefix = true;
    jobs_.push_back(std::move(job));
  }
  // The others wait: each would lose its state to the next again and again.
  core_.pages().limit(jobs_);
}

Schedule Step::plan() {
  PageKeeper& pages = core_.pages();
  pages.count_holders();
  std::vector<Candidate> candidates;
  candidates.reserve(jobs_.size());
  int64_t decoding = 0;
  const double shortest = core_.shortest_stall();
  double max_stall = std::min(kStepSecondsWithoutDecoding, shortest);
  for (const auto& job : jobs_) {
    const SessionState& session = job->session();
    Candidate c;
    c.priority = job->priority();
    c.arrival = job->arrival;
    c.last_step = job->last_step;
    c.source = session.reads_source();
    c.rows_left = (c.source ? session.source : session.size()) -
                  session.residence.evaluated;
    c.decoding =
        job->decoding() && !c.source && c.rows_left <= kMostDecodingRows;
    c.outputs = job->outputs();
    c.tenant = session.account->tenant.get();
    c.weight = session.account->tenant->weight;
    c.lead = core_.fair_share().lead(c.tenant);
    c.room = static_cast<int64_t>(session.residence.pages.size()) *
                 pages.page_size() -
             pages.next_place(session);
    c.pages_first = pages.shares_next_page(session) ? 1 : 0;
    c.pages_owned = pages.pages_held_alone(session);
    if (c.decoding) {
      decoding += c.rows_left;
      max_stall =
          std::min(max_stall, session.account->tenant->max_stall.load());
    }
    candidates.push_back(c);
  }
  const runtime::ProgramLimits& limits = core_.model().options().limits;
  Budget budget;
  budget.rows = limits.max_rows;
  budget.outputs = limits.max_outputs;
  budget.sequences = limits.max_sequences;
  budget.pages = pages.available();
  budget.page_size = pages.page_size();
  // A tenant that asks for shorter steps than usual gets them, also where
  // prompts take much longer then, and before it has a stream: its next prompt
  // waits for the step under way.
  const int64_t least =
      shortest < Tenant::kUsualStall ? 1 : StepClock::kLeastRows;
  budget.prompt_rows_while_decoding =
      std::max(core_.clock().rows_within(max_stall, least) - decoding, least);
  budget.prompt_rows_alone = core_.clock().rows_within(
      std::min(kStepSecondsWithoutDecoding, shortest), least);
  budget.seconds_per_row = core_.clock().seconds_per_row();
  budget.whole = !core_.model().file().causal();
  Schedule made = schedule(candidates, budget);
  note_backlog(candidates, made);
  return made;
}

void Step::note_backlog(const std::vector<Candidate>& candidates,
                        const Schedule& schedule) {
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& c = candidates[i];
    FairShare::Use& use = uses_[c.tenant];
    use.weight = c.weight;
    use.backlogged |= schedule.rows[i] < c.rows_left;
  }
}

void Step::resolve_stall() {
  // Pages that idle sessions and the prefix cache share with the jobs would be
  // copied where they could simply be used.
  PageKeeper& pages = core_.pages();
  pages.drop_idle();
  const auto first =
      *std::min_element(jobs_.begin(), jobs_.end(), ranks_before);
  bool freed = false;
  for (const auto& session : pages.sessions()) {
    const auto job = session->begun_job();
    if (job == nullptr || job == first || session->residence.pages.empty())
      continue;
    pages.truncate(*session, 0);
    job->wants_prefix = true;
    freed = true;
  }
  pages.drop_idle();
  SessionState& session = first->session();
  const int64_t next =
      session.reads_source() ? session.source : session.residence.evaluated + 1;
  const int64_t needed = pages.pages_for(pages.places(session, next)) -
                         static_cast<int64_t>(session.residence.pages.size()) +
                         (pages.shares_next_page(session) ? 1 : 0);
  pages.count_holders();
  if (freed || needed <= pages.available()) return;
  if (pages.shares_next_page(session)) {
    // The other holder is the prefix cache, which cannot give it away.
    pages.truncate(session, 0);
    return;
  }
  char message[256];
  std::snprintf(message, sizeof message,
                "the session has %lld tokens, but the KV cache of the model "
                "holds only %lld; load it with a larger cache_tokens",
                static_cast<long long>(session.size()),
                static_cast<long long>(pages.page_count() * pages.page_size()));
  core_.finish(first, {RC_END_ERROR, RC_E_DEVICE_MEMORY}, message);
}

void Step::add(const std::shared_ptr<Job>& job, int64_t rows) {
  PageKeeper& pages = core_.pages();
  SessionState& session = job->session();
  const bool reads = session.reads_source();
  const auto stage = reads ? model::kReadSource : model::kGenerate;
  model::Batch& batch = reads ? sources_ : batch_;
  const model::ProgramInputs& inputs = core_.model().inputs();
  // Nothing may be lacking once the first number is in the batch.
  inputs.reserve(batch, stage, static_cast<size_t>(rows));
  shares_.reserve(shares_.size() + 1);
  try {
    if (job->wants_prefix) {
      job->wants_prefix = false;
      const int64_t known =
          std::max(session.residence.evaluated, session.metered);
      pages.attach_prefix(session, job->outputs());
      const int64_t cached =
          std::max<int64_t>(session.residence.evaluated - known, 0);
      job->cached_tokens += cached;
      charge(session, {.cached_tokens = static_cast<uint64_t>(cached)});
    }
    if (!reads) {
      const int64_t left = session.size() - session.residence.evaluated;
      rows = std::min({rows, left, rows_within_outputs(*job, left)});
    }
    if (rows <= 0) return;
    rows = pages.rows_to_checkpoint(session, rows);
    // The plan could not know what the prefix cache gives to whom.
    if (!pages.make_room(session, rows)) return;
  } catch (...) {
    core_.finish_with_exception(job);
    return;
  }

  Share share;
  share.job = job;
  share.account = session.account;
  share.usage = session.residence.usage;
  share.rows = rows;
  share.first_output = batch_.output_rows.size();
  inputs.add(batch, stage, sequence_rows(*job, rows));
  share.outputs = batch_.output_rows.size() - share.first_output;
  share.reads_source = reads;
  if (job->last_step == 0) {
    job->first_step = Clock::now();
    const std::chrono::duration<double> waited =
        job->first_step - job->submitted;
    session.account->tenant->add_wait(*session.residence.usage, waited.count());
  }
  job->last_step = core_.step_number();
  shares_.push_back(std::move(share));
}

model::SequenceRows Step::sequence_rows(Job& job, int64_t rows) const {
  const SessionState& session = job.session();
  const int64_t begin = session.residence.evaluated;
  // The number among the rows of the one at a position, or behind it.
  const auto number = [&](int64_t position) {
    return static_cast<size_t>(std::clamp<int64_t>(position - begin, 0, rows));
  };
  model::SequenceRows added;
  const ItemSpan items = session.items.subspan(begin, rows);
  added.tokens = items.tokens;
  added.embeddings = items.runs;
  added.first_item = items.begin;
  // Those of a source are counted by themselves.
  added.first_position =
      session.reads_source() ? begin : begin - session.source;
  if (job.wants_first_row()) {
    added.outputs_end = number(1);
  } else {
    added.outputs_begin =
        number(std::max(session.size() - job.outputs(), session.source));
    added.outputs_end = number(session.size());
  }
  added.second_text = number(session.second_text);
  added.longer = session.residence.variant.longer;
  const std::span pages(session.residence.pages);
  const auto of_source =
      static_cast<size_t>(core_.pages().source_pages(session));
  added.pages = pages.subspan(of_source);
  added.window_pages = session.residence.window_pages;
  added.source_pages = pages.first(of_source);
  added.source_length = session.source;
  if (!session.residence.checkpoints.empty()) {
    added.slot_before = session.residence.checkpoints.back().slot;
  }
  added.slot_after = session.residence.next_slot;
  return added;
}

int64_t Step::rows_within_outputs(const Job& job, int64_t left) const {
  const int64_t room = core_.model().options().limits.max_outputs -
                       static_cast<int64_t>(batch_.output_rows.size());
  return left - std::min(left, job.outputs()) + room;
}

void Step::evaluate() {
  const Clock::time_point begin = Clock::now();
  const int64_t timeout =
      core_.options().timeout_ms > 0 ? core_.options().timeout_ms : -1;
  if (timeout > 0) {
    limit_ = time_after(timeout, begin);
  }
  const auto stop = [](void* step) {
    return static_cast<Step*>(step)->should_stop();
  };
  const auto seconds = [begin] {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  pay(sources_, /*reads_source=*/true);
  pay(batch_, /*reads_source=*/false);
  try {
    if (!sources_.tokens.empty()) {
      core_.model().read_sources(sources_, stop, this, timeout);
    }
    if (!batch_.tokens.empty()) {
      core_.model().run(batch_, core_.logits().data(), stop, this, timeout);
    }
  } catch (...) {
    const rc_status status = status_of_current_exception();
    charge_work(seconds());
    // Those it was stopped for have ended; the others' rows are evaluated
    // again.
    if (status == RC_E_CANCELLED && stopped_.load()) return;
    std::array<char, 1024> message;
    std::snprintf(message.data(), message.size(), "%s", last_error_message());
    // A device that has heeded its time limit can go on.
    if (status == RC_E_DEVICE_LOST || core_.model().damaged() ||
        (status == RC_E_TIMEOUT && core_.device_lost())) {
      core_.mark_broken(status, message.data());
    }
    fail_all(status == RC_E_CANCELLED ? RC_E_DEVICE : status, message.data());
    return;
  }
  const double spent = seconds();
  core_.clock().observe(
      static_cast<int64_t>(batch_.tokens.size() + sources_.tokens.size()),
      spent);
  charge_work(spent);
  for (const Share& share : shares_) {
    if (share.job->over()) continue;
    SessionState& session = share.job->session();
    core_.pages().advance(session, share.rows);
    core_.pages().publish(session);
    core_.pages().give_back(session);
    // Generated tokens are metered already.
    if (session.residence.evaluated > session.metered) {
      const int64_t added = session.residence.evaluated - session.metered;
      charge(session, {.prompt_tokens = static_cast<uint64_t>(added)},
             static_cast<uint64_t>(std::min(added, share.rows)));
      session.metered = session.residence.evaluated;
    }
  }
  for (const Share& share : shares_) {
    if (share.job->over()) continue;
    try {
      hand_out(share);
    } catch (...) {
      core_.finish_with_exception(share.job);
    }
  }
}

void Step::pay(model::Batch& batch, bool reads_source) const {
  const auto rows = static_cast<double>(batch.tokens.size());
  for (const Share& share : shares_) {
    if (share.reads_source != reads_source) continue;
    const Tenant* const tenant = share.account->tenant.get();
    const double part = static_cast<double>(share.rows) / rows;
    const auto known =
        std::find_if(batch.paid.begin(), batch.paid.end(),
                     [&](const auto& one) { return one.payer == tenant; });
    if (known == batch.paid.end()) {
      batch.paid.push_back({tenant, part});
    } else {
      known->part += part;
    }
  }
}

void Step::charge_work(double seconds) noexcept {
  const std::span<double> by_device = core_.device_seconds();
  core_.model().take_seconds(by_device);
  const auto rows =
      static_cast<double>(batch_.tokens.size() + sources_.tokens.size());
  for (const Share& share : shares_) {
    const double part = static_cast<double>(share.rows) / rows;
    share.account->meter.compute_us.fetch_add(
        static_cast<uint64_t>(seconds * 1e6 * part));
    for (size_t i = 0; i < by_device.size(); ++i) {
      share.account->tenant->add_work(*share.usage, i, by_device[i] * part);
    }
    const auto use = uses_.find(share.account->tenant.get());
    if (use != uses_.end()) use->second.seconds += seconds * part;
  }
  try {
    core_.fair_share().add(uses_);
  } catch (const std::bad_alloc&) {
    // Then the step changes no lead.
  }
}

void Step::hand_out(const Share& share) {
  if (share.outputs == 0) return;
  const auto count = static_cast<int64_t>(share.outputs);
  const RowLogits logits = {
      core_.logits().subspan(share.first_output * core_.row_size(),
                             share.outputs * core_.row_size()),
      share.job->wants_first_row()
          ? 0
          : share.job->session().residence.evaluated - count,
      count};
  // A session that is alone holds up no other.
  if (!share.job->ready() && jobs_.size() == 1) share.job->catch_up();
  if (!share.job->ready()) return share.job->hold(logits);
  if (const auto end = share.job->take(core_, logits)) {
    core_.finish(share.job, *end, "");
  }
}

void Step::fail_all(rc_status status, const char* message) noexcept {
  for (const Share& share : shares_) {
    if (share.job->over()) continue;
    core_.finish(share.job, {RC_END_ERROR, status}, message);
  }
}

int32_t Step::should_stop() noexcept {
  // Only the engine thread may end jobs.
  const bool on_engine_thread = core_.on_engine_thread();
  const Clock::time_point now = Clock::now();
  const bool look = core_.may_be_overdue(now);
  if (look && on_engine_thread && now >= look_at_all_) {
    core_.end_overdue();
    look_at_all_ = now + kBetweenLooksAtAll;
  } else if (look && on_engine_thread) {
    for (const Share& share : shares_) {
      if (End end; !share.job->over() && share.job->overdue(now, &end)) {
        core_.end_if_overdue(std::shared_ptr(share.job), now);
      }
    }
  }
  if (limit_ && now >= *limit_ && on_engine_thread && !stopped_.load()) {
    std::array<char, 128> message;
    std::snprintf(message.data(), message.size(),
                  "a step of %zu rows was not over after %lld ms, the "
                  "timeout_ms of the backend handle",
                  batch_.tokens.size() + sources_.tokens.size(),
                  static_cast<long long>(core_.options().timeout_ms));
    fail_all(RC_E_TIMEOUT, message.data());
    stopped_.store(true);
  }
  // The pages of a job that is over go to no other job before the step has
  // ended, so the one row of its decoding may as well be finished.
  if (look &&
      std::any_of(shares_.begin(), shares_.end(), [&](const Share& share) {
        End end;
        return share.rows > 1 && share.job->overdue(now, &end);
      })) {
    stopped_.store(true);
  }
  return stopped_.load();
}

}  // namespace rc::engine
