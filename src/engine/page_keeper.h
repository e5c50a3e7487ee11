// Gives pages to sessions and takes them away: paged KV cache with shared
// prefixes, copied when one of several holders wants to write.
//
// Belongs to the engine thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/page_pool.h"
#include "engine/prefix_cache.h"
#include "engine/session_state.h"
#include "model/resident_model.h"

namespace rc::engine {

class PageKeeper {
 public:
  PageKeeper(model::ResidentModel& model, bool prefix_cache);

  int64_t page_size() const { return page_size_; }
  int64_t page_count() const { return pool_.size(); }
  int64_t pages_for(int64_t positions) const {
    return (positions + page_size_ - 1) / page_size_;
  }

  // Gives a new session room for all pages that it may ever have, so that
  // moving pages cannot fail. Any thread, so long as the session is its own.
  void prepare(SessionState& session) const;
  // From now on the session's pages may be taken away while it has no job under
  // way. May throw std::bad_alloc.
  void add(std::shared_ptr<SessionState> session);
  // Forgets the sessions without handles that have nothing to do.
  void sweep() noexcept;
  std::span<const std::shared_ptr<SessionState>> sessions() const {
    return sessions_;
  }

  // Takes whole pages of the session's next tokens from the prefix cache, but
  // leaves at least one token to evaluate.
  void attach_prefix(SessionState& session) noexcept;
  // Offers the full pages to other sessions.
  void publish(SessionState& session) noexcept;

  // Whether the page of the next position has to be copied before it is written
  // to.
  bool shares_next_page(const SessionState& session) const;
  // Makes the positions up to evaluated + rows writable. False if there are not
  // enough pages. Throws what the device throws.
  bool make_room(SessionState& session, int64_t rows);

  // Forgets what was evaluated from `position` on, and gives back pages that
  // were taken for more.
  void truncate(SessionState& session, int64_t position) noexcept;
  // Gives `to`, which has none, the pages of `from`.
  void share(const SessionState& from, SessionState& to) noexcept;

  // Fills the pages of a session, which has none and is not added yet, with
  // what a saved session brought, [pages, page bytes]. If there are not enough
  // pages it is left without. Throws what the device throws.
  void adopt(SessionState& session, int64_t evaluated,
             std::span<const std::byte> data);

  // Counts for the scheduler: how often each page is held by sessions that have
  // a job under way.
  void count_holders();
  // Pages that could be taken without preempting anybody.
  int64_t available() const { return page_count() - held_; }
  int64_t pages_held_alone(const SessionState& session) const;

  // Takes the pages of all idle sessions and of the prefix cache, as far as no
  // session with a job under way holds them.
  void drop_idle() noexcept;

 private:
  size_t next_page(const SessionState& session) const {
    return static_cast<size_t>(session.evaluated / page_size_);
  }
  PageId allocate() noexcept;
  bool take_from_idle() noexcept;
  void drop_last_page(SessionState& session) noexcept;

  model::ResidentModel& model_;
  int64_t page_size_;
  bool prefix_cache_;
  PagePool pool_;
  PrefixCache cache_;
  std::vector<std::shared_ptr<SessionState>> sessions_;
  std::vector<int32_t> holders_;
  int64_t held_ = 0;
};

}  // namespace rc::engine
