// Gives pages to sessions and takes them away: paged KV cache with shared
// prefixes, copied when one of several holders wants to write.
//
// A model with states of fixed size also has slots for them. A step reads the
// state of a session from one slot and writes the next one to another slot, so
// a failed step loses nothing, and shared slots are never written. A session
// can go back to states that were kept on the way (checkpoints), and other
// sessions with the same beginning can start there.
//
// Layers with a window may have separate pages; see window_keeper.h. A session
// that goes back farther than these pages reach is evaluated from its
// beginning.
//
// Belongs to the engine thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/page_pool.h"
#include "engine/prefix_cache.h"
#include "engine/saved_session.h"
#include "engine/session_state.h"
#include "engine/window_keeper.h"
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

  // The place in its pages of a session's next token.
  int64_t next_place(const SessionState& session) const {
    const int64_t position = session.residence.evaluated;
    return session.reads_source()
               ? position
               : source_pages(session) * page_size_ + position - session.source;
  }
  // The places that so many of its tokens take.
  int64_t places(const SessionState& session, int64_t tokens) const {
    return tokens <= session.source
               ? tokens
               : source_pages(session) * page_size_ + tokens - session.source;
  }
  int64_t source_pages(const SessionState& session) const {
    return pages_for(session.source);
  }
  // The most tokens of a source: a step has all of them, and their pages.
  int64_t longest_source() const;

  // Gives the residence of a session room for all pages that it may ever have,
  // so that moving pages cannot fail. Any thread, so long as it is its own.
  void prepare(Residence& residence, int64_t context_length) const;
  void prepare(SessionState& session) const {
    prepare(session.residence, session.options.context_length);
  }
  // From now on the session's pages may be taken away while it has no job under
  // way. May throw std::bad_alloc.
  void add(std::shared_ptr<SessionState> session);
  // Takes all that the session has and forgets it.
  void remove(SessionState& session) noexcept;
  // Forgets the sessions without handles that have nothing to do.
  void sweep() noexcept;
  std::span<const std::shared_ptr<SessionState>> sessions() const {
    return sessions_;
  }

  // Forgets what was evaluated where the session has become longer than the
  // model's short context, or no longer than that, so that it would be
  // evaluated otherwise; see ModelFile::short_context. Whether it has. To be
  // called before what was evaluated is used or saved.
  bool settle(SessionState& session) noexcept;
  // Takes whole pages of the session's next tokens from the prefix cache, but
  // leaves the last `wanted` tokens to evaluate, at least one.
  void attach_prefix(SessionState& session, int64_t wanted) noexcept;
  // Offers the full pages to other sessions.
  void publish(SessionState& session) noexcept;

  // Returns how many of the next `rows` the coming step should take, so that it
  // ends where a state can be of use to others: the end of a page.
  int64_t rows_to_checkpoint(const SessionState& session, int64_t rows) const;

  // Whether the page of the next position has to be copied before it is written
  // to.
  bool shares_next_page(const SessionState& session) const;
  // Makes the positions up to evaluated + rows writable, and finds the slot for
  // the state after them. False if there are not enough pages or slots. Throws
  // what the device throws.
  bool make_room(SessionState& session, int64_t rows);

  // The rows that make_room was asked for are evaluated.
  void advance(SessionState& session, int64_t rows) noexcept;

  // Gives back what the coming rows do not see.
  void give_back(SessionState& session) noexcept {
    windows_.give_back(session);
  }

  // Forgets what was evaluated from `position` on, and gives back what was
  // taken for more. With states it is from the last checkpoint until there, and
  // all if windows do not reach so far back, or within a source.
  void truncate(SessionState& session, int64_t position) noexcept;
  // Gives `to`, which has none, the pages and checkpoints of `from`.
  void share(const SessionState& from, SessionState& to) noexcept;

  // Fills the pages of a session, which has none and is not added yet, with
  // what a saved session brought. If there are not enough pages or slots it is
  // left without. Throws what the device throws.
  void adopt(SessionState& session, const SavedSession& saved);
  // The same for a copy made on another engine, since when the session may have
  // changed: of the first `most` positions, those that it has in common with
  // the copy. What fails is left to be evaluated again.
  void adopt_shared(SessionState& session, int64_t most,
                    const SavedSession& copy) noexcept;

  // Counts for the scheduler: how often each page is held by sessions that have
  // a job under way.
  void count_holders();
  // Pages that could be taken without preempting anybody.
  int64_t available() const { return page_count() - held_; }
  int64_t pages_held_alone(const SessionState& session) const;
  // Before a step: no session has rows in it.
  void begin_step() noexcept;
  // Leaves of the jobs, by rank, as many as can have rows without losing states
  // or windows to each other.
  void limit(std::vector<std::shared_ptr<Job>>& jobs) const;

  // Takes the pages of all idle sessions and of the prefix cache, as far as no
  // session with a job under way holds them.
  void drop_idle() noexcept;

 private:
  // Returns the place in the prefix cache of the session's next page.
  PrefixCache::Place next_in_cache(const SessionState& session) const;
  size_t next_page(const SessionState& session) const {
    return static_cast<size_t>(next_place(session) / page_size_);
  }
  bool has_states() const { return slots_.size() > 0; }
  PageId allocate() noexcept;
  // Not from this session.
  SlotId allocate_slot(const SessionState& session) noexcept;
  bool take_state(const SessionState& session) noexcept;
  bool take_windows(const SessionState& session) noexcept;
  // Of the sessions of which `has` is true, the idle one that was used longest
  // ago; that of the youngest job without rows in this step. nullptr: none.
  template <class Has>
  SessionState* longest_idle(Has has) const;
  template <class Has>
  SessionState* youngest_waiting(const SessionState& but, Has has) const;
  void go_back_to_state(SessionState& session) noexcept;
  void drop_checkpoint(SessionState& session, size_t number) noexcept;
  void drop_next_slot(SessionState& session) noexcept;
  bool take_from_idle() noexcept;
  void drop_last_page(SessionState& session) noexcept;

  model::ResidentModel& model_;
  int64_t page_size_;
  bool prefix_cache_;
  PagePool pool_;
  PagePool slots_;
  WindowKeeper windows_;
  PrefixCache cache_;
  std::vector<std::shared_ptr<SessionState>> sessions_;
  std::vector<int32_t> holders_;
  int64_t held_ = 0;
};

}  // namespace rc::engine
