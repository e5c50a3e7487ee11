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

void PageKeeper::prepare(Residence& residence, int64_t context_length) const {
  // One more for the end of a source.
  const auto most = static_cast<size_t>(pages_for(context_length) + 1);
  residence.pages.reserve(most);
  if (windows_.any()) residence.window_pages.reserve(most);
  residence.entries.reserve(most);
  if (has_states()) residence.checkpoints.reserve(kMostCheckpoints + 1);
}

int64_t PageKeeper::longest_source() const {
  // One page is for what follows.
  return std::min(model_.options().limits.max_rows,
                  (page_count() - 1) * page_size_);
}

void PageKeeper::add(std::shared_ptr<SessionState> session) {
  SessionState& added = *session;
  sessions_.push_back(std::move(session));
  added.residence.kept = true;
}

void PageKeeper::remove(SessionState& session) noexcept {
  truncate(session, 0);
  std::erase_if(sessions_,
                [&](const auto& kept) { return kept.get() == &session; });
  session.residence.kept = false;
}

void PageKeeper::sweep() noexcept {
  std::erase_if(sessions_, [&](const std::shared_ptr<SessionState>& session) {
    if (session->open || !session->jobs.empty()) return false;
    truncate(*session, 0);
    return true;
  });
}

bool PageKeeper::settle(SessionState& session) noexcept {
  Residence& here = session.residence;
  const int64_t most = model_.short_context();
  const bool longer = most > 0 && session.size() > most;
  if (longer == here.variant.longer) return false;
  truncate(session, 0);
  here.variant.longer = longer;
  return true;
}

PrefixCache::Place PageKeeper::next_in_cache(
    const SessionState& session) const {
  const Residence& here = session.residence;
  return {here.variant, here.entries.empty() ? nullptr : here.entries.back()};
}

void PageKeeper::attach_prefix(SessionState& session, int64_t wanted) noexcept {
  Residence& here = session.residence;
  if (!prefix_cache_ || !here.computed_here) return;
  const int64_t begin = here.evaluated;
  SlotId slot = kNoPage;
  int64_t position = begin;  // of the state in the slot
  while (here.evaluated % page_size_ == 0 &&
         here.entries.size() == here.pages.size() &&
         here.evaluated + page_size_ <= session.size() - wanted) {
    const auto* entry =
        cache_.find(next_in_cache(session),
                    session.items.subspan(here.evaluated, page_size_));
    if (entry == nullptr) break;
    pool_.retain(entry->page);
    here.pages.push_back(entry->page);  // reserved by prepare()
    here.entries.push_back(entry);
    here.evaluated += page_size_;
    if (has_states() && entry->slot == kNoPage) continue;
    slot = entry->slot;
    position = here.evaluated;
  }
  const int64_t reachable = windows_.last_reachable(session, begin, position);
  if (reachable < position) {
    // A state is valid for its exact position only.
    position = has_states() ? begin : reachable;
    slot = kNoPage;
  }
  if (slot != kNoPage) {
    while (here.checkpoints.size() >= kMostCheckpoints) {
      drop_checkpoint(session, 0);
    }
    slots_.retain(slot);
    here.checkpoints.push_back({position, slot, true});
  }
  if (has_states() || windows_.any()) truncate(session, position);
  windows_.take_cached(session);
}

void PageKeeper::publish(SessionState& session) noexcept {
  Residence& here = session.residence;
  if (!prefix_cache_ || !here.computed_here) return;
  const auto full = static_cast<size_t>(here.evaluated / page_size_);
  while (here.entries.size() < full) {
    const size_t i = here.entries.size();
    const ItemSpan items =
        session.items.subspan(static_cast<int64_t>(i) * page_size_, page_size_);
    try {
      const auto* entry =
          cache_.insert(next_in_cache(session), items, here.pages[i]);
      // Another session may have computed the same: one copy is enough.
      if (entry->page != here.pages[i]) {
        pool_.retain(entry->page);
        pool_.release(here.pages[i]);
        here.pages[i] = entry->page;
      }
      here.entries.push_back(entry);
      if (windows_.any() && entry->window_page == kNoPage &&
          here.window_pages[i] != kNoPage) {
        cache_.keep_window(entry, here.window_pages[i]);
      }
    } catch (...) {
      return;  // Out of memory: then this page is not shared.
    }
  }
  const bool at_end = full > 0 && here.entries.size() == full &&
                      here.evaluated % page_size_ == 0;
  if (has_states() && at_end && here.entries.back()->slot == kNoPage) {
    cache_.keep_state(here.entries.back(), here.checkpoints.back().slot);
  }
}

int64_t PageKeeper::rows_to_checkpoint(const SessionState& session,
                                       int64_t rows) const {
  const Residence& here = session.residence;
  if (!has_states() || !prefix_cache_ || rows == 1) return rows;
  // The prefix cache never gives away the last token.
  const int64_t end = std::min(here.evaluated + rows, session.size() - 1) /
                      page_size_ * page_size_;
  return end > here.evaluated ? end - here.evaluated : rows;
}

bool PageKeeper::shares_next_page(const SessionState& session) const {
  return next_place(session) % page_size_ != 0 &&
         pool_.references(session.residence.pages[next_page(session)]) > 1;
}

bool PageKeeper::make_room(SessionState& session, int64_t rows) {
  Residence& here = session.residence;
  if (shares_next_page(session)) {
    const PageId copy = allocate();
    if (copy == kNoPage) return false;
    PageId& page = here.pages[next_page(session)];
    try {
      model_.caches(Kind::kPages).copy(copy, page);
    } catch (...) {
      pool_.release(copy);
      throw;
    }
    pool_.release(page);
    page = copy;
  }
  const int64_t wanted = pages_for(places(session, here.evaluated + rows));
  while (static_cast<int64_t>(here.pages.size()) < wanted) {
    const PageId page = allocate();
    if (page == kNoPage) {
      truncate(session, here.evaluated);
      return false;
    }
    here.pages.push_back(page);
  }
  while (!windows_.make_room(session)) {
    if (cache_.evict_window() || take_windows(session)) continue;
    truncate(session, here.evaluated);
    return false;
  }
  if (has_states() && here.next_slot == kNoPage) {
    here.next_slot = allocate_slot(session);
    if (here.next_slot == kNoPage) {
      truncate(session, here.evaluated);
      return false;
    }
  }
  here.in_step = true;
  return true;
}

void PageKeeper::advance(SessionState& session, int64_t rows) noexcept {
  Residence& here = session.residence;
  here.evaluated += rows;
  here.in_step = false;
  if (!has_states()) return;
  std::vector<Checkpoint>& checkpoints = here.checkpoints;
  // Of several rows some may turn out to be wrong.
  if (rows == 1 && !checkpoints.empty() && !checkpoints.back().of_prompt) {
    drop_checkpoint(session, checkpoints.size() - 1);
  }
  while (checkpoints.size() >= kMostCheckpoints) drop_checkpoint(session, 0);
  checkpoints.push_back({here.evaluated, here.next_slot, rows > 1});
  here.next_slot = kNoPage;
}

void PageKeeper::truncate(SessionState& session, int64_t position) noexcept {
  Residence& here = session.residence;
  here.evaluated = std::min(here.evaluated, position);
  if (session.reads_source()) here.evaluated = 0;
  go_back_to_state(session);
  if (!windows_.reaches(session, here.evaluated)) {
    here.evaluated = 0;
    go_back_to_state(session);
  }
  const auto wanted =
      static_cast<size_t>(pages_for(places(session, here.evaluated)));
  while (here.pages.size() > wanted) drop_last_page(session);
  windows_.cut(session);
  const auto full = static_cast<size_t>(here.evaluated / page_size_);
  if (here.entries.size() > full) here.entries.resize(full);
  if (here.evaluated == 0) here.computed_here = true;
}

void PageKeeper::go_back_to_state(SessionState& session) noexcept {
  Residence& here = session.residence;
  if (!has_states()) return;
  drop_next_slot(session);
  std::vector<Checkpoint>& checkpoints = here.checkpoints;
  while (!checkpoints.empty() && checkpoints.back().position > here.evaluated) {
    drop_checkpoint(session, checkpoints.size() - 1);
  }
  here.evaluated = checkpoints.empty() ? 0 : checkpoints.back().position;
}

void PageKeeper::share(const SessionState& from, SessionState& to) noexcept {
  for (PageId page : from.residence.pages) {
    pool_.retain(page);
    to.residence.pages.push_back(page);  // reserved by prepare()
  }
  for (const auto* entry : from.residence.entries)
    to.residence.entries.push_back(entry);
  for (const Checkpoint& checkpoint : from.residence.checkpoints) {
    slots_.retain(checkpoint.slot);
    to.residence.checkpoints.push_back(checkpoint);
  }
  windows_.share(from, to);
  to.residence.variant = from.residence.variant;
  to.residence.evaluated = from.residence.evaluated;
  to.residence.computed_here = from.residence.computed_here;
}

void PageKeeper::adopt(SessionState& session, const SavedSession& saved) {
  Residence& here = session.residence;
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
    upload(Kind::kPages, here.pages, saved.pages);
    if (windows_.any()) {
      upload(Kind::kWindow,
             std::span(here.window_pages).subspan(here.window_begin),
             saved.window_pages);
    }
    if (has_states()) {
      upload(Kind::kSlot, std::span(&here.next_slot, 1), saved.state);
    }
  } catch (...) {
    truncate(session, 0);
    throw;
  }
  advance(session, saved.evaluated);
  here.computed_here = false;
}

void PageKeeper::count_holders() {
  std::fill(holders_.begin(), holders_.end(), 0);
  held_ = 0;
  for (const auto& session : sessions_) {
    if (session->active_job() == nullptr) continue;
    for (PageId page : session->residence.pages) {
      if (holders_[static_cast<size_t>(page)]++ == 0) ++held_;
    }
  }
}

void PageKeeper::adopt_shared(SessionState& session, int64_t most,
                              const SavedSession& copy) noexcept {
  settle(session);
  const int64_t shared =
      std::min({common_items(session.items, copy.items), copy.evaluated, most});
  if (shared == 0 || copy.source != session.source ||
      copy.variant != session.residence.variant ||
      copy.evaluated > session.options.context_length ||
      !same_bytes(copy.layout, model_.options().cache)) {
    return;
  }
  try {
    adopt(session, copy);
  } catch (...) {
    return;  // adopt() left it without.
  }
  truncate(session, shared);
}

int64_t PageKeeper::pages_held_alone(const SessionState& session) const {
  const Residence& here = session.residence;
  return std::count_if(here.pages.begin(), here.pages.end(), [&](PageId page) {
    return holders_[static_cast<size_t>(page)] == 1;
  });
}

void PageKeeper::begin_step() noexcept {
  for (const auto& session : sessions_) session->residence.in_step = false;
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

void PageKeeper::drop_checkpoint(SessionState& session,
                                 size_t number) noexcept {
  Residence& here = session.residence;
  slots_.release(here.checkpoints[number].slot);
  here.checkpoints.erase(here.checkpoints.begin() +
                         static_cast<ptrdiff_t>(number));
}

void PageKeeper::drop_next_slot(SessionState& session) noexcept {
  Residence& here = session.residence;
  if (here.next_slot != kNoPage) slots_.release(here.next_slot);
  here.next_slot = kNoPage;
}

void PageKeeper::drop_last_page(SessionState& session) noexcept {
  Residence& here = session.residence;
  pool_.release(here.pages.back());
  here.pages.pop_back();
}

}  // namespace rc::engine
