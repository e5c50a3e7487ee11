#include "engine/page_keeper.h"

#include <algorithm>
#include <utility>

#include "engine/job.h"

namespace rc::engine {
namespace {

using Kind = model::LayerState::Kind;

// Of a session: where it is, and two ends of parts of prompts.
constexpr size_t kMostCheckpoints = 3;

}  // namespace

PageKeeper::PageKeeper(model::ResidentModel& model, bool prefix_cache)
    : model_(model),
      page_size_(model.options().cache.page_size),
      prefix_cache_(prefix_cache),
      pool_(model.options().cache.pages),
      slots_(model.has_states() ? model.options().cache.slots : 0),
      windows_(model),
      cache_(pool_, windows_.pool(), slots_),
      holders_(static_cast<size_t>(model.options().cache.pages)) {}

void PageKeeper::prepare(SessionState& session) const {
  // One more for the end of a source.
  const auto most =
      static_cast<size_t>(pages_for(session.options.context_length) + 1);
  session.pages.reserve(most);
  if (windows_.any()) session.window_pages.reserve(most);
  session.entries.reserve(most);
  if (has_states()) session.checkpoints.reserve(kMostCheckpoints + 1);
}

int64_t PageKeeper::longest_source() const {
  // One page is for what follows.
  return std::min(model_.options().limits.max_rows,
                  (page_count() - 1) * page_size_);
}

void PageKeeper::add(std::shared_ptr<SessionState> session) {
  SessionState& added = *session;
  sessions_.push_back(std::move(session));
  added.kept = true;
}

void PageKeeper::sweep() noexcept {
  std::erase_if(sessions_, [&](const std::shared_ptr<SessionState>& session) {
    if (session->open || !session->jobs.empty()) return false;
    truncate(*session, 0);
    return true;
  });
}

bool PageKeeper::settle(SessionState& session) noexcept {
  const int64_t most = model_.short_context();
  const bool longer = most > 0 && session.size() > most;
  if (longer == session.longer) return false;
  truncate(session, 0);
  session.longer = longer;
  return true;
}

const PrefixCache::Entry* PageKeeper::last_entry(
    const SessionState& session) const {
  return session.entries.empty() ? cache_.root(session.longer)
                                 : session.entries.back();
}

void PageKeeper::attach_prefix(SessionState& session, int64_t wanted) noexcept {
  if (!prefix_cache_ || !session.computed_here) return;
  const int64_t begin = session.evaluated;
  SlotId slot = kNoPage;
  int64_t position = begin;  // of the state in the slot
  while (session.evaluated % page_size_ == 0 &&
         session.entries.size() == session.pages.size() &&
         session.evaluated + page_size_ <= session.size() - wanted) {
    const std::span tokens =
        std::span(session.tokens)
            .subspan(static_cast<size_t>(session.evaluated),
                     static_cast<size_t>(page_size_));
    const auto* entry = cache_.find(last_entry(session), tokens);
    if (entry == nullptr) break;
    pool_.retain(entry->page);
    session.pages.push_back(entry->page);  // reserved by prepare()
    session.entries.push_back(entry);
    session.evaluated += page_size_;
    if (has_states() && entry->slot == kNoPage) continue;
    slot = entry->slot;
    position = session.evaluated;
  }
  const int64_t reachable = windows_.last_reachable(session, begin, position);
  if (reachable < position) {
    // The state is that of its own position alone.
    position = has_states() ? begin : reachable;
    slot = kNoPage;
  }
  if (slot != kNoPage) {
    while (session.checkpoints.size() >= kMostCheckpoints) {
      drop_checkpoint(session, 0);
    }
    slots_.retain(slot);
    session.checkpoints.push_back({position, slot, true});
  }
  if (has_states() || windows_.any()) truncate(session, position);
  windows_.take_cached(session);
}

void PageKeeper::publish(SessionState& session) noexcept {
  if (!prefix_cache_ || !session.computed_here) return;
  const auto full = static_cast<size_t>(session.evaluated / page_size_);
  while (session.entries.size() < full) {
    const size_t i = session.entries.size();
    const std::span tokens = std::span(session.tokens)
                                 .subspan(i * static_cast<size_t>(page_size_),
                                          static_cast<size_t>(page_size_));
    try {
      const auto* entry =
          cache_.insert(last_entry(session), tokens, session.pages[i]);
      // Another session may have computed the same: one copy is enough.
      if (entry->page != session.pages[i]) {
        pool_.retain(entry->page);
        pool_.release(session.pages[i]);
        session.pages[i] = entry->page;
      }
      session.entries.push_back(entry);
      if (windows_.any() && entry->window_page == kNoPage &&
          session.window_pages[i] != kNoPage) {
        cache_.keep_window(entry, session.window_pages[i]);
      }
    } catch (...) {
      return;  // Out of memory: then this page is not shared.
    }
  }
  const bool at_end = full > 0 && session.entries.size() == full &&
                      session.evaluated % page_size_ == 0;
  if (has_states() && at_end && session.entries.back()->slot == kNoPage) {
    cache_.keep_state(session.entries.back(), session.checkpoints.back().slot);
  }
}

int64_t PageKeeper::rows_to_checkpoint(const SessionState& session,
                                       int64_t rows) const {
  if (!has_states() || !prefix_cache_ || rows == 1) return rows;
  // The prefix cache never gives away the last token.
  const int64_t end = std::min(session.evaluated + rows, session.size() - 1) /
                      page_size_ * page_size_;
  return end > session.evaluated ? end - session.evaluated : rows;
}

bool PageKeeper::shares_next_page(const SessionState& session) const {
  return next_place(session) % page_size_ != 0 &&
         pool_.references(session.pages[next_page(session)]) > 1;
}

bool PageKeeper::make_room(SessionState& session, int64_t rows) {
  if (shares_next_page(session)) {
    const PageId copy = allocate();
    if (copy == kNoPage) return false;
    PageId& page = session.pages[next_page(session)];
    try {
      model_.caches(Kind::kPages).copy(copy, page);
    } catch (...) {
      pool_.release(copy);
      throw;
    }
    pool_.release(page);
    page = copy;
  }
  const int64_t wanted = pages_for(places(session, session.evaluated + rows));
  while (static_cast<int64_t>(session.pages.size()) < wanted) {
    const PageId page = allocate();
    if (page == kNoPage) {
      truncate(session, session.evaluated);
      return false;
    }
    session.pages.push_back(page);
  }
  while (!windows_.make_room(session)) {
    if (cache_.evict_window() || take_windows(session)) continue;
    truncate(session, session.evaluated);
    return false;
  }
  if (has_states() && session.next_slot == kNoPage) {
    session.next_slot = allocate_slot(session);
    if (session.next_slot == kNoPage) {
      truncate(session, session.evaluated);
      return false;
    }
  }
  session.in_step = true;
  return true;
}

void PageKeeper::advance(SessionState& session, int64_t rows) noexcept {
  session.evaluated += rows;
  session.in_step = false;
  if (!has_states()) return;
  std::vector<Checkpoint>& checkpoints = session.checkpoints;
  // Of several rows some may turn out to be wrong.
  if (rows == 1 && !checkpoints.empty() && !checkpoints.back().of_prompt) {
    drop_checkpoint(session, checkpoints.size() - 1);
  }
  while (checkpoints.size() >= kMostCheckpoints) drop_checkpoint(session, 0);
  checkpoints.push_back({session.evaluated, session.next_slot, rows > 1});
  session.next_slot = kNoPage;
}

void PageKeeper::truncate(SessionState& session, int64_t position) noexcept {
  session.evaluated = std::min(session.evaluated, position);
  if (session.reads_source()) session.evaluated = 0;
  go_back_to_state(session);
  if (!windows_.reaches(session, session.evaluated)) {
    session.evaluated = 0;
    go_back_to_state(session);
  }
  const auto wanted =
      static_cast<size_t>(pages_for(places(session, session.evaluated)));
  while (session.pages.size() > wanted) drop_last_page(session);
  windows_.cut(session);
  const auto full = static_cast<size_t>(session.evaluated / page_size_);
  if (session.entries.size() > full) session.entries.resize(full);
  if (session.evaluated == 0) session.computed_here = true;
}

void PageKeeper::go_back_to_state(SessionState& session) noexcept {
  if (!has_states()) return;
  drop_next_slot(session);
  std::vector<Checkpoint>& checkpoints = session.checkpoints;
  while (!checkpoints.empty() &&
         checkpoints.back().position > session.evaluated) {
    drop_checkpoint(session, checkpoints.size() - 1);
  }
  session.evaluated = checkpoints.empty() ? 0 : checkpoints.back().position;
}

void PageKeeper::share(const SessionState& from, SessionState& to) noexcept {
  for (PageId page : from.pages) {
    pool_.retain(page);
    to.pages.push_back(page);  // reserved by prepare()
  }
  for (const auto* entry : from.entries) to.entries.push_back(entry);
  for (const Checkpoint& checkpoint : from.checkpoints) {
    slots_.retain(checkpoint.slot);
    to.checkpoints.push_back(checkpoint);
  }
  windows_.share(from, to);
  to.longer = from.longer;
  to.source = from.source;
  to.evaluated = from.evaluated;
  to.computed_here = from.computed_here;
}

void PageKeeper::adopt(SessionState& session, const SavedSession& saved) {
  settle(session);
  if (saved.evaluated == 0) return;
  windows_.begin_at(session,
                    static_cast<size_t>(saved.window_begin / page_size_));
  if (!make_room(session, saved.evaluated)) return;
  const auto upload = [&](Kind kind, std::span<const PageId> numbers,
                          std::span<const std::byte> data) {
    model::CacheGroup& caches = model_.caches(kind);
    const auto bytes = static_cast<size_t>(caches.bytes());
    for (size_t i = 0; i < numbers.size(); ++i) {
      caches.upload(numbers[i], data.subspan(i * bytes, bytes));
    }
  };
  try {
    upload(Kind::kPages, session.pages, saved.pages);
    if (windows_.any()) {
      upload(Kind::kWindow,
             std::span(session.window_pages).subspan(session.window_begin),
             saved.window_pages);
    }
    if (has_states()) {
      upload(Kind::kSlot, std::span(&session.next_slot, 1), saved.state);
    }
  } catch (...) {
    truncate(session, 0);
    throw;
  }
  advance(session, saved.evaluated);
  session.computed_here = false;
}

void PageKeeper::count_holders() {
  std::fill(holders_.begin(), holders_.end(), 0);
  held_ = 0;
  for (const auto& session : sessions_) {
    if (session->begun_job() == nullptr) continue;
    for (PageId page : session->pages) {
      if (holders_[static_cast<size_t>(page)]++ == 0) ++held_;
    }
  }
}

int64_t PageKeeper::pages_held_alone(const SessionState& session) const {
  return std::count_if(
      session.pages.begin(), session.pages.end(),
      [&](PageId page) { return holders_[static_cast<size_t>(page)] == 1; });
}

void PageKeeper::begin_step() noexcept {
  for (const auto& session : sessions_) session->in_step = false;
}

void PageKeeper::limit(std::vector<std::shared_ptr<Job>>& jobs) const {
  size_t most = jobs.size();
  if (has_states()) {
    most = std::min(most,
                    static_cast<size_t>(slots_.size() -
                                        model_.options().limits.max_sequences));
  }
  if (most == jobs.size() &&
      (!windows_.any() || most <= windows_.jobs_at_ease())) {
    return;
  }
  std::sort(jobs.begin(), jobs.end(),
            [](const auto& a, const auto& b) { return a->ranks_before(*b); });
  if (windows_.any()) most = std::min(most, windows_.most_jobs(jobs));
  jobs.resize(most);
}

void PageKeeper::drop_idle() noexcept {
  while (take_from_idle()) {
  }
  while (cache_.evict()) {
  }
}

PageId PageKeeper::allocate() noexcept {
  for (;;) {
    const PageId page = pool_.allocate();
    if (page != kNoPage) return page;
    if (!cache_.evict() && !take_from_idle()) return kNoPage;
  }
}

template <class Has>
SessionState* PageKeeper::longest_idle(Has has) const {
  SessionState* longest = nullptr;
  for (const auto& session : sessions_) {
    if (session->begun_job() != nullptr || !has(*session)) continue;
    if (longest == nullptr || session->last_used < longest->last_used) {
      longest = session.get();
    }
  }
  return longest;
}

template <class Has>
SessionState* PageKeeper::youngest_waiting(const SessionState& but,
                                           Has has) const {
  std::shared_ptr<Job> youngest;
  for (const auto& session : sessions_) {
    const auto job = session->begun_job();
    if (job == nullptr || session.get() == &but || session->in_step ||
        !has(*session)) {
      continue;
    }
    if (youngest == nullptr || youngest->ranks_before(*job)) youngest = job;
  }
  return youngest == nullptr ? nullptr : &youngest->session();
}

// Drops the last page of the idle session that was used longest ago.
bool PageKeeper::take_from_idle() noexcept {
  SessionState* const idle = longest_idle(
      [](const SessionState& session) { return !session.pages.empty(); });
  if (idle == nullptr) return false;
  const int64_t left =
      static_cast<int64_t>(idle->pages.size()) - 1 - source_pages(*idle);
  truncate(*idle, left < 0 ? 0 : idle->source + left * page_size_);
  return true;
}

// Drops everything of the idle session that was used longest ago, else of the
// youngest job that has no rows in this step: without its windows a session
// begins anew.
bool PageKeeper::take_windows(const SessionState& session) noexcept {
  const auto has = [](const SessionState& other) {
    return !other.window_pages.empty();
  };
  SessionState* chosen = longest_idle(has);
  if (chosen == nullptr) chosen = youngest_waiting(session, has);
  if (chosen == nullptr) return false;
  if (const auto job = chosen->begun_job()) job->wants_prefix = true;
  truncate(*chosen, 0);
  return true;
}

SlotId PageKeeper::allocate_slot(const SessionState& session) noexcept {
  for (;;) {
    const SlotId slot = slots_.allocate();
    if (slot != kNoPage) return slot;
    if (!cache_.evict_state() && !take_state(session)) return kNoPage;
  }
}

// Drops one checkpoint: the last one of the idle session that was used longest
// ago, else the first of those that a session keeps only to go back to, else
// the last one of the youngest job that has no rows in this step.
bool PageKeeper::take_state(const SessionState& session) noexcept {
  const auto has = [](const SessionState& other) {
    return !other.checkpoints.empty();
  };
  SessionState* chosen = longest_idle(has);
  if (chosen == nullptr) {
    SessionState* longest = nullptr;
    for (const auto& other : sessions_) {
      const size_t count = other->checkpoints.size();
      if (count > (longest == nullptr ? 1 : longest->checkpoints.size())) {
        longest = other.get();
      }
    }
    if (longest != nullptr) {
      drop_checkpoint(*longest, 0);
      return true;
    }
    chosen = youngest_waiting(session, has);
  }
  if (chosen == nullptr) return false;
  truncate(*chosen, chosen->checkpoints.back().position - 1);
  return true;
}

void PageKeeper::drop_checkpoint(SessionState& session,
                                 size_t number) noexcept {
  slots_.release(session.checkpoints[number].slot);
  session.checkpoints.erase(session.checkpoints.begin() +
                            static_cast<ptrdiff_t>(number));
}

void PageKeeper::drop_next_slot(SessionState& session) noexcept {
  if (session.next_slot != kNoPage) slots_.release(session.next_slot);
  session.next_slot = kNoPage;
}

void PageKeeper::drop_last_page(SessionState& session) noexcept {
  pool_.release(session.pages.back());
  session.pages.pop_back();
}

}  // namespace rc::engine
