// The choice of the session that loses pages, windows or states when a pool has
// none left.
#include <memory>

#include "engine/job.h"
#include "engine/page_keeper.h"

namespace rc::engine {
namespace {

// Has the job of a session look in the prefix cache for the rows that the
// session loses.
void look_again(const SessionState& session) {
  if (const auto job = session.begun_job()) job->wants_prefix = true;
}

}  // namespace

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
    if (session->active_job() != nullptr || !has(*session)) continue;
    if (longest == nullptr ||
        session->residence.last_used < longest->residence.last_used) {
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
    const auto job = session->active_job();
    if (job == nullptr || session.get() == &but || session->residence.in_step ||
        !has(*session)) {
      continue;
    }
    if (youngest == nullptr || youngest->ranks_before(*job)) youngest = job;
  }
  return youngest == nullptr ? nullptr : &youngest->session();
}

// Drops the last page of the idle session that was used longest ago.
bool PageKeeper::take_from_idle() noexcept {
  SessionState* const idle = longest_idle([](const SessionState& session) {
    return !session.residence.pages.empty();
  });
  if (idle == nullptr) return false;
  look_again(*idle);
  const int64_t left = static_cast<int64_t>(idle->residence.pages.size()) - 1 -
                       source_pages(*idle);
  truncate(*idle, left < 0 ? 0 : idle->source + left * page_size_);
  return true;
}

// Drops everything of the idle session that was used longest ago, else of the
// youngest job that has no rows in this step: without its windows a session
// begins again.
bool PageKeeper::take_windows(const SessionState& session) noexcept {
  const auto has = [](const SessionState& other) {
    return !other.residence.window_pages.empty();
  };
  SessionState* chosen = longest_idle(has);
  if (chosen == nullptr) chosen = youngest_waiting(session, has);
  if (chosen == nullptr) return false;
  look_again(*chosen);
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
    return !other.residence.checkpoints.empty();
  };
  SessionState* chosen = longest_idle(has);
  if (chosen == nullptr) {
    SessionState* longest = nullptr;
    for (const auto& other : sessions_) {
      const size_t count = other->residence.checkpoints.size();
      if (count >
          (longest == nullptr ? 1 : longest->residence.checkpoints.size())) {
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
  look_again(*chosen);
  truncate(*chosen, chosen->residence.checkpoints.back().position - 1);
  return true;
}

}  // namespace rc::engine
